#include "agent/audit/opinion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "agent/answer/reasoning.h"
#include "agent/base/json_text.h"

namespace kagent::audit {
namespace {

using nlohmann::json;

constexpr std::size_t kMostReply = std::size_t{1} << 20;
constexpr std::array<std::string_view, 5> kNames = {"legitimate", "speed_hack", "memory_hack", "speed_and_memory_hack",
                                                    "uncertain"};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool is_fence(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t>"), line.size()));
  return line.starts_with("```") || line.starts_with("~~~");
}

// A later key of the same name replaces the earlier one in a JSON value, so keys are counted while they are read.
std::size_t count_keys(const std::string& text) {
  std::size_t keys = 0;
  const auto count = [&](int, json::parse_event_t event, json&) {
    keys += event == json::parse_event_t::key ? 1 : 0;
    return true;
  };
  const json read = json::parse(text, count, false);
  return read.is_discarded() ? 0 : keys;
}

}  // namespace

std::string_view name_of(Label label) { return kNames.at(static_cast<std::size_t>(label)); }

std::variant<Opinion, Unparsed> parse_opinion(std::string_view reply) {
  if (reply.size() > kMostReply) return Unparsed{"it was longer than 1 MiB"};
  const std::vector<std::string_view> lines = lines_of(reply.substr(answer::reasoning_bytes(reply)));
  std::vector<std::size_t> fences;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_fence(lines[i])) fences.push_back(i);
  }
  if (fences.size() != 2 || lines[fences[0]] != "```json" || lines[fences[1]] != "```")
    return Unparsed{"it did not have exactly one fenced block, tagged json"};
  std::string text;
  for (std::size_t i = fences[0] + 1; i < fences[1]; ++i) text += std::string(lines[i]) + "\n";

  const Result<json> parsed = parse_json(text);
  if (!parsed) return Unparsed{"its block was not one JSON value"};
  const json& object = parsed.value();
  if (!object.is_object() || object.size() != 3 || count_keys(text) != 3 || !object.contains("label") ||
      !object.contains("confidence") || !object.contains("reason"))
    return Unparsed{"its object did not have exactly the fields label, confidence and reason"};
  const auto* name = std::find(kNames.begin(), kNames.end(), text_or(object, "label", ""));
  if (name == kNames.end()) return Unparsed{"its label was none of the five"};
  const json& confidence = object["confidence"];
  if (!confidence.is_number() || !(confidence.get<double>() >= 0 && confidence.get<double>() <= 1))
    return Unparsed{"its confidence was no number from 0 to 1"};
  std::string reason = text_or(object, "reason", "");
  if (reason.empty()) return Unparsed{"it gave no reason"};
  return Opinion{static_cast<Label>(name - kNames.begin()), confidence.get<double>(), std::move(reason)};
}

}  // namespace kagent::audit
