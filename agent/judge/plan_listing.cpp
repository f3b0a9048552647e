#include "agent/judge/plan_listing.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace kagent {
namespace {

using nlohmann::json;

std::string tensor_text(const json& tensors, std::int64_t id) {
  std::string out = fmt::format("%{}", id);
  if (id < 0 || id >= static_cast<std::int64_t>(tensors.size())) return out;
  const json& t = tensors[static_cast<std::size_t>(id)];
  return out + ":" + t.value("dtype", "?") + t.value("shape", json::array()).dump();
}

std::string value_text(const json& v) {
  if (v.is_object() && v.contains("t")) return fmt::format("%{}", v["t"].dump());
  if (v.is_object() && v.size() == 1) return value_text(v.begin().value());
  if (v.is_array()) {
    std::string out = "[";
    for (const json& item : v) out += (out.size() > 1 ? ", " : "") + value_text(item);
    return out + "]";
  }
  return v.is_string() ? v.get<std::string>() : v.dump();
}

std::string step_text(const json& step, const json& tensors) {
  std::string args = value_text(step.value("args", json::array()));
  const std::string line =
      step.contains("line") && step["line"].is_number() ? fmt::format("   # line {}", step["line"].dump()) : "";
  if (step.contains("launch")) {
    std::string extra;
    if (step.value("shared", 0) > 0) extra += fmt::format(" shared={}", step["shared"].dump());
    if (step.contains("cluster") && step["cluster"].is_array()) extra += " cluster=" + step["cluster"].dump();
    if (step.value("cooperative", false)) extra += " cooperative";
    return fmt::format("launch {} grid={} block={}{} {}{}", step["launch"].dump(), step.value("grid", json()).dump(),
                       step.value("block", json()).dump(), extra, args, line);
  }
  std::string results;
  for (const json& r : step.value("results", json::array())) {
    results += (results.empty() ? "" : ", ") + (r.is_object() && r.contains("t") && r["t"].is_number_integer()
                                                    ? tensor_text(tensors, r["t"].get<std::int64_t>())
                                                    : value_text(r));
  }
  std::string kwargs;
  const json named = step.value("kwargs", json::object());
  for (const auto& [key, value] : named.items()) kwargs += fmt::format(" {}={}", key, value_text(value));
  return fmt::format("{} = {} {}{}{}", results, step.value("op", "?"), args, kwargs, line);
}

std::string listing(const json& plan) {
  const json tensors = plan.value("tensors", json::array());
  std::string out = fmt::format("options {}\n", plan.value("options", json::object()).dump());
  for (const char* phase : {"prepare", "forward"}) {
    const json steps = plan.value(phase, json::array());
    out += fmt::format("{}: {} steps\n", phase, steps.size());
    std::size_t number = 0;
    for (const json& step : steps) out += fmt::format("{:5}  {}\n", number++, step_text(step, tensors));
  }
  return out + "outputs " + value_text(plan.value("outputs", json())) + "\n";
}

}  // namespace

std::string plan_listing(std::string_view text) {
  const json plan = json::parse(text, nullptr, false);
  if (!plan.is_object()) return "not a plan\n";
  try {
    return listing(plan);
  } catch (const json::exception&) {  // a hostile plan whose fields have other types
    return plan.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  }
}

}  // namespace kagent
