#include "agent/llm/dialect.h"

#include <fmt/format.h>

#include <cctype>

#include "agent/base/json_text.h"

namespace kagent::llm {

using nlohmann::json;

const std::vector<const Dialect*>& dialects() {
  static const std::vector<const Dialect*> all = {&openai(), &anthropic(), &gemini()};
  return all;
}

json without_prompt(json body) {
  for (const char* name : {"messages", "contents"}) {
    if (body.contains(name)) body[name] = "(the prompt)";
  }
  return body;
}

json read_json(std::string_view text) {
  Result<json> value = parse_json(text);
  return value && value.value().is_structured() ? std::move(value).value() : json();
}

const json& member(const json& object, const char* name) {
  static const json null;
  if (!object.is_object()) return null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

std::string text_of(const json& object, const char* name) { return text_or(object, name, ""); }

std::optional<std::int64_t> count_of(const json& object, const char* name) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  const json& value = member(object, name);
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMost)) return std::nullopt;
  if (!value.is_number_integer()) return std::nullopt;
  const auto count = value.get<std::int64_t>();
  if (count < 0 || count > kMost) return std::nullopt;
  return count;
}

void keep(const json& from, std::initializer_list<const char*> names, json& into) {
  constexpr std::size_t kMostText = 200;
  constexpr std::size_t kMostObject = 2000;
  for (const char* name : names) {
    const json& value = member(from, name);
    if (value.is_null() || (value.is_string() && value.get_ref<const std::string&>().size() > kMostText)) continue;
    if (value.is_structured() && value.dump().size() > kMostObject) continue;
    into[name] = value;
  }
}

std::string error_message(std::string_view body) {
  json whole = read_json(body);
  if (whole.is_array() && !whole.empty()) whole = json(whole[0]);
  const json& error = member(whole, "error");
  for (const std::string& text : {text_of(error, "message"), text_of(whole, "error"), text_of(whole, "message"),
                                  text_of(whole, "detail"), text_of(member(whole, "detail"), "message")}) {
    if (!text.empty()) return text;
  }
  return std::string(body.substr(0, 1000));
}

std::string percent_encoded_path(std::string_view text) {
  std::string out;
  for (const unsigned char c : text) {
    if (std::isalnum(c) || std::string_view("-._~/:@").find(static_cast<char>(c)) != std::string_view::npos)
      out += static_cast<char>(c);
    else
      out += fmt::format("%{:02X}", c);
  }
  return out;
}

}  // namespace kagent::llm
