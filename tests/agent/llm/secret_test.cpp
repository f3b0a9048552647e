#include "agent/llm/secret.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace kagent::llm {
namespace {

TEST(Secret, IsTakenOutOfTheEnvironmentAndRemembered) {
  ::setenv("KAGENT_TEST_KEY", " key-in-environment-1\n", 1);
  ASSERT_TRUE(take_key("KAGENT_TEST_KEY").ok());
  EXPECT_EQ(std::getenv("KAGENT_TEST_KEY"), nullptr);
  EXPECT_EQ(take_key("KAGENT_TEST_KEY").value(), "key-in-environment-1");  // blanks around it go
  EXPECT_EQ(take_key("KAGENT_NO_SUCH_KEY").value(), "");
}

TEST(Secret, WithABreakInsideIsRefusedWithoutShowingIt) {
  ::setenv("KAGENT_TEST_BAD", "abc12345\r\nX-Evil: 1", 1);
  const auto key = take_key("KAGENT_TEST_BAD");
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.error().message.find("abc12345"), std::string::npos);
}

TEST(Secret, LeavesNoTraceInText) {
  const std::string key = "sk-proj-0123456789/abcdefghijklmnop";
  EXPECT_EQ(without_key("a " + key + " b " + key, key), "a [key] b [key]");
  EXPECT_EQ(without_key("sk-proj-0123456789%2Fabcdefghijklmnop", key), "[key]");
  EXPECT_EQ(without_key("starts " + key.substr(0, 20) + "...", key).find("0123456789"), std::string::npos);
  EXPECT_EQ(without_key("nothing here", ""), "nothing here");
  EXPECT_EQ(without_key("none of it", "none"), "none of it");  // a placeholder
}

TEST(Secret, OneLineBearsHostileText) {
  EXPECT_EQ(one_line("  a\r\n\tb\x1b[31m  c\x7f "), "a b [31m c");
  EXPECT_EQ(one_line("abcdef", 3), "abc...");
  EXPECT_EQ(one_line("ab\xC3\xA9", 3), "ab...");  // no half of a character
  EXPECT_EQ(one_line(""), "");
}

}  // namespace
}  // namespace kagent::llm
