// Settings files: what is read, and one line on each thing that is wrong.

#include "agent/base/settings_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kagent {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;
using Texts = std::vector<std::string>;

SettingValue value_of(const std::string& written) {
  const auto settings = parse_settings("x = " + written + "\n", "s.toml");
  EXPECT_TRUE(settings.ok()) << settings.error().message;
  return settings.ok() ? settings.value().at(0).value : SettingValue();
}

std::string error_of(const std::string& text) {
  const auto settings = parse_settings(text, "s.toml");
  EXPECT_FALSE(settings.ok()) << text;
  return settings.ok() ? "" : settings.error().message;
}

TEST(SettingsText, ReadsEveryKindOfValue) {
  EXPECT_EQ(value_of("\"spool:a b # c\" # comment"), SettingValue("spool:a b # c"));
  EXPECT_EQ(value_of(R"('{"top_p": 0.9}\n')"), SettingValue(R"({"top_p": 0.9}\n)"));
  EXPECT_EQ(value_of(R"("a\"\\\t\u00e9\U0001F600")"), SettingValue("a\"\\\t\xC3\xA9\xF0\x9F\x98\x80"));
  EXPECT_EQ(value_of("\"\""), SettingValue(""));
  EXPECT_EQ(value_of("30_000"), SettingValue(std::int64_t{30000}));
  EXPECT_EQ(value_of("-0"), SettingValue(std::int64_t{0}));
  EXPECT_EQ(value_of("+7"), SettingValue(std::int64_t{7}));
  EXPECT_EQ(value_of("0.25"), SettingValue(0.25));
  EXPECT_EQ(value_of("-1e3"), SettingValue(-1000.0));
  EXPECT_EQ(value_of("6.5E-1"), SettingValue(0.65));
  EXPECT_EQ(value_of("true"), SettingValue(true));
  EXPECT_EQ(value_of("false"), SettingValue(false));
  EXPECT_EQ(value_of("[]"), SettingValue(Texts{}));
  EXPECT_EQ(value_of("[ \"3/1\", # the first\n\n  '3/9',\n]"), SettingValue(Texts{"3/1", "3/9"}));
}

TEST(SettingsText, KnowsTheLineOfEachSetting) {
  const auto settings = parse_settings("\xEF\xBB\xBF# a run\r\n\r\na=1\r\nb = [\n'x',\n]\nno-wait = true", "s.toml");
  ASSERT_TRUE(settings.ok()) << settings.error().message;
  Texts found;
  for (const Setting& setting : settings.value()) found.push_back(setting.name + ":" + std::to_string(setting.line));
  EXPECT_THAT(found, ElementsAre("a:3", "b:4", "no-wait:7"));
  EXPECT_TRUE(parse_settings("", "s.toml").value().empty());
  EXPECT_TRUE(parse_settings("# nothing", "s.toml").value().empty());
}

TEST(SettingsText, SaysInOneLineWhereAndWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"a = 1\na = 2\n", "s.toml:2: a is given again, after line 1; leave one of them out"},
      {"\n[run]\n", "s.toml:2: there are no tables in a settings file; "},
      {"[[price]]\n", "s.toml:1: there are no tables in a settings file; "},
      {"a\n", "s.toml:1: a has no value; write a = value"},
      {"a =\nb = 1\n", "s.toml:1: a has no value; write a = value"},
      {"a = # none\n", "s.toml:1: a has no value; write a = value"},
      {"a.b = 1\n", "s.toml:1: a name has no dots here; "},
      {"\"a\" = 1\n", "s.toml:1: a name is expected and \"\"a\" = 1\" stands there; "},
      {"= 1\n", "s.toml:1: a name is expected and \"= 1\" stands there; "},
      {"a = spool:x\n", "s.toml:1: \"spool:x\" is no value; text stands in quotes: a = \"...\""},
      {"a = True\n", "s.toml:1: \"True\" is no value; "},
      {"a = 03\n", "s.toml:1: \"03\" is no value; "},
      {"a = 1__0\n", "s.toml:1: \"1__0\" is no value; "},
      {"a = 1.\n", "s.toml:1: \"1.\" is no value; "},
      {"a = .5\n", "s.toml:1: \".5\" is no value; "},
      {"a = 0x10\n", "s.toml:1: \"0x10\" is no value; "},
      {"a = nan\n", "s.toml:1: \"nan\" is no value; "},
      {"a = 2026-12-03\n", "s.toml:1: \"2026-12-03\" is no value; "},
      {"a = { }\n", "s.toml:1: \"{ }\" is no value; "},
      {"a = 99999999999999999999\n", "s.toml:1: the number of a is too large; "},
      {"a = 1e999\n", "s.toml:1: the number of a is too large; "},
      {"a = \"x\n", "s.toml:1: the text of a is not closed; end it with \" on the same line"},
      {"a = 'x\r\nb = 1", "s.toml:1: the text of a is not closed; end it with ' on the same line"},
      {"a = \"x\\", "s.toml:1: \"\\\" is no escape; "},
      {"a = \"\\d\"\n", "s.toml:1: \"\\d\" is no escape; "},
      {"a = \"\\uD800\"\n", "s.toml:1: \"\\uD800\" is no escape; "},
      {"a = \"\\u0000\"\n", "s.toml:1: \"\\u0000\" is no escape; "},
      {"a = \"\"\"x\"\"\"\n", "s.toml:1: text of several lines is not read here; "},
      {"a = \"\xFF\"\n", "s.toml:1: the text is not UTF-8; "},
      {"a = \"\x1B[31m\"\n", "s.toml:1: there is a control character in the text of a; "},
      {"a = 1 b = 2\n", "s.toml:1: \"b = 2\" stands after the value of a; write one setting a line"},
      {"a = \"x\" \"y\"\n", "s.toml:1: \"\"y\"\" stands after the value of a; "},
      {"a = [\"x\"\n\n", "s.toml:1: the list of a is not closed; end it with ]"},
      {"a = [\n\"x\"\n\"y\"]", "s.toml:3: a comma or ] is missing in the list of a, before \"\"y\"]\""},
      {"a = [1, 2]\n", "s.toml:1: a list holds texts in quotes, as in a = [\"a\", \"b\"], and \"1, 2]\" is none"},
      {"a = [[\"x\"]]\n", "s.toml:1: a list holds texts in quotes, "},
      {"a = [,]\n", "s.toml:1: a list holds texts in quotes, "},
      {"\x1B]0;x\x07 = 1\n", "s.toml:1: a name is expected and \" ]0;x  = 1\" stands there; "},
  };
  for (const auto& [text, says] : rows) EXPECT_THAT(error_of(text), StartsWith(says)) << text;
}

}  // namespace
}  // namespace kagent
