#include "agent/base/json_text.h"

namespace kagent {
namespace {

constexpr int kMaxDepth = 100;

bool too_deep(std::string_view text) {
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
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text) {
  if (too_deep(text)) return Error{Code::kParse, "JSON is nested more than 100 deep"};
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    return Error{Code::kParse, e.what()};
  }
}

std::string text_or(const nlohmann::json& object, const char* key, std::string fallback) {
  if (!object.is_object()) return fallback;
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : fallback;
}

std::int64_t integer_or(const nlohmann::json& object, const char* key, std::int64_t fallback) {
  if (!object.is_object()) return fallback;
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : fallback;
}

}  // namespace kagent
