#include "agent/llm/sse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace kagent::llm {
namespace {

using testing::ElementsAre;
using Events = std::vector<std::string>;

Events read(std::string_view stream, std::size_t step, bool finish = true) {
  Events events;
  SseReader reader([&](std::string_view data) { events.emplace_back(data); });
  for (std::size_t i = 0; i < stream.size(); i += step) reader.feed(stream.substr(i, step));
  if (finish) reader.finish();
  return events;
}

TEST(Sse, IsTheSameHoweverThePiecesAreCut) {
  const std::string stream =
      "\xEF\xBB\xBF: comment\r\n\r\nevent: a\r\ndata: one\r\n\r\ndata:two\ndata: lines\n\ndata: \xC3\xA9\r\rid: "
      "7\ndata\n\n";
  for (std::size_t step = 1; step <= stream.size(); ++step)
    EXPECT_THAT(read(stream, step), ElementsAre("one", "two\nlines", "\xC3\xA9", "")) << step;
}

TEST(Sse, DeliversNothingBeforeTheBlankLine) {
  EXPECT_TRUE(read("data: half\n", 4, /*finish=*/false).empty());
  EXPECT_TRUE(read("", 1).empty());
}

TEST(Sse, DeliversALastEventWithoutItsBlankLineAtTheEnd) {
  EXPECT_THAT(read("data: a\n\ndata: [DONE]", 3), ElementsAre("a", "[DONE]"));
}

TEST(Sse, IgnoresOtherFields) { EXPECT_TRUE(read("event: x\nretry: 3\ndatax: 1\nid\n\n", 2).empty()); }

}  // namespace
}  // namespace kagent::llm
