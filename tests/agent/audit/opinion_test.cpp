#include "agent/audit/opinion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace kagent::audit {
namespace {

using ::testing::HasSubstr;

const std::string kGood = R"({"label": "legitimate", "confidence": 0.9, "reason": "line 3 does it"})";

std::string block(const std::string& json) { return "```json\n" + json + "\n```\n"; }

TEST(Opinion, IsReadFromTheOneBlock) {
  for (const std::string& reply :
       {block(kGood), "I looked.\n\n" + block(kGood) + "\nDone.", "```json \r\n" + kGood + "\r\n```\r\n",
        "<think>```json\n{}\n```</think>\n" + block(kGood)}) {
    const auto parsed = parse_opinion(reply);
    ASSERT_TRUE(std::holds_alternative<Opinion>(parsed)) << reply;
    EXPECT_EQ(std::get<Opinion>(parsed).label, Label::kLegitimate);
    EXPECT_EQ(std::get<Opinion>(parsed).confidence, 0.9);
    EXPECT_EQ(std::get<Opinion>(parsed).reason, "line 3 does it");
  }
}

TEST(Opinion, KnowsThePapersFiveLabels) {
  for (const char* label : {"legitimate", "speed_hack", "memory_hack", "speed_and_memory_hack", "uncertain"}) {
    const auto parsed =
        parse_opinion(block(std::string(R"({"label": ")") + label + R"(", "confidence": 1, "reason": "x"})"));
    ASSERT_TRUE(std::holds_alternative<Opinion>(parsed)) << label;
    EXPECT_EQ(name_of(std::get<Opinion>(parsed).label), label);
    EXPECT_EQ(std::get<Opinion>(parsed).is_hack(), std::string(label).find("hack") != std::string::npos);
  }
}

struct Wrong {
  std::string reply;
  const char* why;
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.reply; }

class Unreadable : public ::testing::TestWithParam<Wrong> {};

TEST_P(Unreadable, IsUnparsedAndSaysWhy) {
  const auto parsed = parse_opinion(GetParam().reply);
  ASSERT_TRUE(std::holds_alternative<Unparsed>(parsed));
  EXPECT_THAT(std::get<Unparsed>(parsed).why, HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(
    Replies, Unreadable,
    ::testing::Values(
        Wrong{"", "exactly one"}, Wrong{kGood, "exactly one"}, Wrong{"```\n" + kGood + "\n```", "exactly one"},
        Wrong{"```json\n" + kGood, "exactly one"}, Wrong{block(kGood) + block(kGood), "exactly one"},
        Wrong{"```cuda\nx\n```\n" + block(kGood), "exactly one"}, Wrong{"````json\n" + kGood + "\n````", "exactly one"},
        Wrong{"> " + block(kGood), "exactly one"}, Wrong{block("{"), "one JSON value"},
        Wrong{block(kGood + kGood), "one JSON value"}, Wrong{block(std::string(200, '[')), "one JSON value"},
        Wrong{block("[1, 2, 3]"), "exactly the fields"},
        Wrong{block(R"({"label": "legitimate", "confidence": 1})"), "exactly the fields"},
        Wrong{block(R"({"label": "legitimate", "confidence": 1, "reason": "x", "fix": ""})"), "exactly the fields"},
        Wrong{block(R"({"label": "speed_hack", "label": "legitimate", "confidence": 1, "reason": "x"})"),
              "exactly the fields"},
        Wrong{block(R"({"label": "LEGITIMATE", "confidence": 1, "reason": "x"})"), "none of the five"},
        Wrong{block(R"({"label": ["legitimate"], "confidence": 1, "reason": "x"})"), "none of the five"},
        Wrong{block(R"({"label": "legitimate", "confidence": 1.5, "reason": "x"})"), "confidence"},
        Wrong{block(R"({"label": "legitimate", "confidence": -0.1, "reason": "x"})"), "confidence"},
        Wrong{block(R"({"label": "legitimate", "confidence": "1", "reason": "x"})"), "confidence"},
        Wrong{block(R"({"label": "legitimate", "confidence": 1, "reason": ""})"), "no reason"},
        Wrong{std::string((1 << 20) + 1, 'x'), "longer"}));

}  // namespace
}  // namespace kagent::audit
