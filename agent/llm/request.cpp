#include <fmt/format.h>

#include <cmath>

#include "agent/llm/dialect.h"
#include "agent/llm/provider.h"

namespace kagent::llm {
namespace {

Error usage(std::string message) { return {Code::kUsage, std::move(message)}; }

bool positive(double seconds) { return std::isfinite(seconds) && seconds > 0; }

}  // namespace

Status valid_request(const Request& request) {
  if (request.sample < 1) return usage("samples are numbered from 1");
  if (request.temperature && !(*request.temperature >= 0 && *request.temperature <= 2))
    return usage(fmt::format("temperature {} is not between 0 and 2", *request.temperature));
  if (request.max_output_tokens && *request.max_output_tokens < 1) return usage("the token limit must be at least 1");
  if (!positive(request.connect_timeout_s) || !positive(request.idle_timeout_s) ||
      (request.deadline_s && !positive(*request.deadline_s)))
    return usage("time limits must be more than 0 seconds");
  if (request.extra.empty()) return Ok{};
  const nlohmann::json extra = read_json(request.extra);
  if (!extra.is_object()) return usage("the extra request JSON is no JSON object: write it like {\"top_p\": 0.9}");
  for (const char* name : {"model", "messages", "contents"}) {
    if (extra.contains(name))
      return usage(
          fmt::format("the extra request JSON must not replace \"{}\": the log would not say what was asked", name));
  }
  return Ok{};
}

}  // namespace kagent::llm
