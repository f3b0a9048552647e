#include "agent/run/chain.h"

#include <fmt/format.h>

#include "agent/base/sha256.h"

namespace kagent::run {
namespace {

std::string problem_with(const nlohmann::json& event, std::size_t seq, const std::string& prev) {
  if (!event.is_object()) return "not a JSON object";
  const auto text = [&](const char* key) { return event.contains(key) && event[key].is_string(); };
  if (!text("kind") || !text("prev") || !text("time")) return "an event needs kind, prev and time";
  if (!event.contains("seq") || !event["seq"].is_number_unsigned()) return "an event needs seq";
  if (event["seq"].get<std::size_t>() != seq)
    return fmt::format("seq is {}, expected {}: events are missing or out of order", event["seq"].dump(), seq);
  if (event["prev"].get<std::string>() != prev) return "it does not continue the line before: the log was edited";
  return "";
}

}  // namespace

Result<Chain> parse_chain(std::string_view text, const std::string& first_prev) {
  Chain chain;
  chain.head = first_prev;
  while (chain.bytes < text.size()) {
    const std::size_t newline = text.find('\n', chain.bytes);
    if (newline == std::string_view::npos) break;
    const std::string_view line = text.substr(chain.bytes, newline - chain.bytes);
    const std::size_t seq = chain.events.size();
    if (line.size() > kMaxLineBytes) return Error{Code::kParse, fmt::format("line {}: longer than 16 MiB", seq + 1)};
    nlohmann::json event = nlohmann::json::parse(line, nullptr, false);
    if (const std::string problem = problem_with(event, seq, chain.head); !problem.empty()) {
      return Error{Code::kParse, fmt::format("line {}: {}", seq + 1, problem)};
    }
    chain.events.push_back(std::move(event));
    chain.head = sha256_hex(line);
    chain.bytes = newline + 1;
  }
  chain.torn = std::string(text.substr(chain.bytes));
  return chain;
}

std::string chain_line(const std::string& kind, nlohmann::json body, std::size_t seq, const std::string& prev,
                       const std::string& time) {
  body["kind"] = kind;
  body["seq"] = seq;
  body["prev"] = prev;
  body["time"] = time;
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace kagent::run
