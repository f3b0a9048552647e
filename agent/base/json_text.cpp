#include "agent/base/json_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "agent/base/printable.h"
#include "agent/base/utf8.h"

namespace kagent {
namespace {

bool too_deep(std::string_view text, int most) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// Where the parser stood, which counts from 1.
std::string place_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column) +
         (before.size() == text.size() ? ", its end" : "");
}

// JSON text whose strings hold no character that a terminal obeys: DEL, C1, other directions of writing. The library
// escapes the others.
std::string escaped(const std::string& json) {
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] == '\n' || (json[at] >= ' ' && json[at] <= '~')) {
      out += json[at++];
      continue;
    }
    std::uint32_t code = 0;
    const std::size_t length = std::max<std::size_t>(1, decode_utf8(json, at, code));
    const std::string character = json.substr(at, length);
    if (printable(character) == character) {
      out += character;
    } else {
      std::array<char, 8> digits{};
      std::snprintf(digits.data(), digits.size(), "\\u%04x", static_cast<unsigned>(code & 0xFFFF));
      out += digits.data();
    }
    at += length;
  }
  return out;
}

// object[key], or null.
const nlohmann::json& member(const nlohmann::json& object, const char* key) {
  static const nlohmann::json kNull;
  const auto found = object.find(key);  // the end for what is no object
  return found != object.end() ? *found : kNull;
}

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text, int most_deep) {
  if (too_deep(text, most_deep))
    return Error{Code::kParse, "JSON is nested more than " + std::to_string(most_deep) + " deep"};
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    return Error{Code::kParse, "no JSON at " + place_of(text, e.byte)};
  } catch (const nlohmann::json::exception&) {  // out_of_range: 1e999
    return Error{Code::kParse, "a number in the JSON is too large"};
  }
}

std::string pretty(const nlohmann::json& value) {
  return escaped(value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string text_or(const nlohmann::json& object, const char* key, std::string fallback) {
  const nlohmann::json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::move(fallback);
}

std::int64_t integer_or(const nlohmann::json& object, const char* key, std::int64_t fallback) {
  const nlohmann::json& value = member(object, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : fallback;
}

double number_or(const nlohmann::json& object, const char* key, double fallback) {
  const nlohmann::json& value = member(object, key);
  return value.is_number() ? value.get<double>() : fallback;
}

bool flag_or(const nlohmann::json& object, const char* key, bool fallback) {
  const nlohmann::json& value = member(object, key);
  return value.is_boolean() ? value.get<bool>() : fallback;
}

nlohmann::json object_in(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = member(object, key);
  return value.is_object() ? value : nlohmann::json::object();
}

nlohmann::json array_in(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = member(object, key);
  return value.is_array() ? value : nlohmann::json::array();
}

}  // namespace kagent
