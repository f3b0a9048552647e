// A settings file: the part of TOML 1.0 that flat settings need. `name = value` lines and comments; a value is text in
// quotes (basic or literal, on one line), a decimal whole number or float, true, false, or a list of texts, which may
// span lines. Tables, dates, dotted names and the rest are refused by a line that says so. Our own reader, since toml++
// 3.3 runs into undefined behaviour on mistyped files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/base/result.h"

namespace kagent {

using SettingValue = std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>>;

struct Setting {
  std::string name;  // letters, digits, - and _
  int line = 0;      // from 1
  SettingValue value;
};

// In the file's order; each name once. Errors: kParse, "FILE:LINE: what is wrong; what to do". Whatever the bytes, it
// takes time in proportion to them.
Result<std::vector<Setting>> parse_settings(std::string_view text, const std::string& file);

// What a value is, in words: "text", "a whole number", "a number", "true or false", "a list of texts".
const char* kind_of(const SettingValue& value);

}  // namespace kagent
