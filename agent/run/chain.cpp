#include "agent/run/chain.h"

#include <fmt/format.h>

#include <utility>

#include "agent/base/json_text.h"
#include "agent/base/sha256.h"
#include "agent/run/event.h"

namespace kagent::run {
namespace {

constexpr std::string_view kSumKey = ",\"sum\":\"";
constexpr std::size_t kSumDigits = 16;
constexpr std::size_t kSumBytes = kSumKey.size() + kSumDigits + 2;  // and "}

std::string sum_of(std::string_view line_before_sum) { return sha256_hex(line_before_sum).substr(0, kSumDigits); }

bool sum_fits(std::string_view line) {
  if (line.size() <= kSumBytes) return false;
  const std::string_view before = line.substr(0, line.size() - kSumBytes);
  return line.substr(before.size()) == fmt::format("{}{}\"}}", kSumKey, sum_of(before));
}

std::string problem_with(const nlohmann::json& event, std::size_t seq, const std::string& prev) {
  if (integer_or(event, "seq", -1) != static_cast<std::int64_t>(seq))
    return fmt::format("seq should be {}: events are missing, repeated or out of order", seq);
  if (text_or(event, "prev", "") != prev) return "it does not continue the line before: the log was edited";
  return event_problem(event);
}

std::string prev_of(std::string_view line) {
  const Result<nlohmann::json> event = parse_json(line);
  return event ? text_or(event.value(), "prev", "") : "";
}

}  // namespace

Result<nlohmann::json> parse_line(std::string_view line, std::size_t seq, const std::string& prev) {
  if (line.size() > kMaxLineBytes) return Error{Code::kParse, "longer than 16 MiB"};
  if (!sum_fits(line)) return Error{Code::kParse, "its bytes do not match its sum: it was damaged or edited"};
  Result<nlohmann::json> event = parse_json(line);
  if (!event) return event;
  if (const std::string problem = problem_with(event.value(), seq, prev); !problem.empty())
    return Error{Code::kParse, problem};
  return event;
}

Result<Chain> parse_chain(std::string_view text, const std::string& first_prev) {
  Chain chain;
  chain.head = first_prev;
  while (chain.bytes < text.size()) {
    const std::size_t newline = text.find('\n', chain.bytes);
    const bool whole_line = newline != std::string_view::npos;
    const std::string_view line = text.substr(chain.bytes, whole_line ? newline - chain.bytes : newline);
    const std::size_t seq = chain.events.size();
    Result<nlohmann::json> event = parse_line(line, seq, chain.head);
    if (!event && whole_line) return event.error().within(fmt::format("line {}", seq + 1));
    if (!event) {
      chain.torn = std::string(line);
      break;
    }
    chain.events.push_back(std::move(event).value());
    chain.head = sha256_hex(line);
    chain.bytes += line.size() + (whole_line ? 1 : 0);
    chain.newline_missing = !whole_line;
  }
  return chain;
}

Result<Chain> parse_chain_of(const std::string& path, std::string_view text, const std::string& first_prev) {
  Result<Chain> chain = parse_chain(text, first_prev);
  if (chain) return chain;
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::string prev = sum_fits(line) ? prev_of(line) : first_prev;
  if (prev == first_prev || !parse_line(line, 0, prev)) return chain.error().within(path);
  return Error{Code::kParse, fmt::format("the run's manifest.json is not the one that {} began with: it was edited or "
                                         "replaced; put that one back, from a copy of the run or version control",
                                         path)};
}

std::string chain_line(const std::string& kind, nlohmann::json body, std::size_t seq, const std::string& prev,
                       const std::string& time) {
  body.erase("sum");
  body["kind"] = kind;
  body["seq"] = seq;
  body["prev"] = prev;
  body["time"] = time;
  std::string line = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  line.pop_back();
  return fmt::format("{}{}{}\"}}", line, kSumKey, sum_of(line));
}

}  // namespace kagent::run
