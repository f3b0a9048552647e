#include "agent/base/json_text.h"

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
  } catch (const nlohmann::json::exception& e) {
    return Error{Code::kParse, e.what()};
  }
}

std::string pretty(const nlohmann::json& value) {
  return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
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
