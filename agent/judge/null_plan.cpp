#include "agent/judge/null_plan.h"

#include "agent/base/json_text.h"

namespace kagent {

using Seconds = std::chrono::duration<double>;

std::optional<Failure> load_null_plan(Child& tracer, Child& reference, const nlohmann::json& device, bool graph,
                                      const Deadlines& deadlines) {
  const ChildReply traced = tracer.ask({{"cmd", "trace_reference"}, {"device", device}}, Seconds(deadlines.trace * 3));
  if (auto failure = failure_of(tracer, traced, "internal")) return failure;
  const ChildReply loaded = reference.ask({{"cmd", "plan"},
                                           {"plan", text_or(traced.answer, "plan", "")},
                                           {"cubin", nullptr},
                                           {"kernels", nlohmann::json::object()},
                                           {"device", device},
                                           {"reference", true},
                                           {"inferred", true},
                                           {"options", {{"graph", graph}, {"tf32", true}}}},
                                          Seconds(deadlines.plan));
  return failure_of(reference, loaded, "internal");
}

}  // namespace kagent
