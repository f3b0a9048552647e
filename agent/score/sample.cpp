#include "agent/score/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "agent/base/json_text.h"

namespace kagent::score {
namespace {

using nlohmann::json;

// Library calls that only fill memory: no work of the model's is done by them.
constexpr std::array<std::string_view, 12> kFills = {
    "aten::zeros", "aten::zeros_like", "aten::new_zeros", "aten::ones",  "aten::ones_like",    "aten::new_ones",
    "aten::full",  "aten::full_like",  "aten::new_full",  "aten::zero_", "aten::fill_.Scalar", "aten::fill_.Tensor"};

constexpr std::size_t kMostBaselines = 20;

// A baseline's name becomes a column's: eager, torch_compile, ...
bool is_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), fits);
}

std::optional<double> positive(const json& object, const char* key) {
  const double value = number_or(object, key, 0);
  return std::isfinite(value) && value > 0 ? std::optional<double>(value) : std::nullopt;
}

std::optional<std::int64_t> count(const json& object, const char* key) {
  const std::int64_t value = integer_or(object, key, -1);
  return value >= 0 ? std::optional<std::int64_t>(value) : std::nullopt;
}

Baseline baseline_of(const std::string& name, const json& timed) {
  Baseline out;
  out.name = name;
  const json ms = object_in(timed, "ms");
  out.mean_ms = positive(ms, "mean");
  out.median_ms = positive(ms, "median");
  const json speedup = object_in(timed, "speedup");
  const auto ratio = positive(speedup, "ratio");
  const auto low = positive(speedup, "low");
  const auto high = positive(speedup, "high");
  out.from_cache = flag_or(timed, "from_cache", false);
  if (ratio && low && high && !out.from_cache) out.speedup = Speedup{*ratio, low, high};
  if (ratio && out.from_cache) out.speedup = Speedup{*ratio, std::nullopt, std::nullopt};
  out.peak_bytes = count(timed, "peak_bytes");
  if (timed.is_object() && timed.contains("passes_official_check") && timed["passes_official_check"].is_boolean())
    out.passes_official = timed["passes_official_check"].get<bool>();
  out.note = text_or(timed, "note", "");
  return out;
}

State state_of(const run::SampleState& state, const json& verdict) {
  if (!state.verdict) return state.reply ? State::kUnjudged : state.requests > 0 ? State::kWaiting : State::kUnasked;
  const std::string outcome = text_or(verdict, "outcome", "");
  if (outcome == "accepted") return text_or(verdict, "backend", "") == "cuda" ? State::kAccepted : State::kEmulated;
  return outcome == "rejected" ? State::kRejected : State::kUndecided;
}

void read_reply(const json& reply, Sample& sample) {
  sample.model = text_or(reply, "model", "");
  sample.vendor = text_or(reply, "vendor", "");
  sample.provider = text_or(reply, "provider", "");
  const json usage = object_in(reply, "usage");
  sample.tokens = {count(usage, "input_tokens"), count(usage, "output_tokens"), count(usage, "reasoning_tokens"),
                   count(usage, "cached_tokens")};
  const double usd = number_or(object_in(reply, "cost"), "usd", -1);
  if (std::isfinite(usd) && usd >= 0) sample.cost_usd = usd;
}

void read_plan(const json& plan, Sample& sample) {
  const std::string tier = text_or(plan, "tier", "");
  sample.tier = tier == "tf32" ? Tier::kTf32 : tier == "any" ? Tier::kAny : Tier::kUnknown;
  if (plan.contains("launches"))
    sample.launches = static_cast<int>(std::clamp<std::int64_t>(integer_or(plan, "launches", 0), 0, 1 << 20));
  if (const double share = number_or(plan, "custom_share", -1); share >= 0 && share <= 1) sample.custom_share = share;
  if (!plan.contains("library_ops") || !plan["library_ops"].is_array()) return;
  sample.track = Track::kPure;
  for (const json& op : plan["library_ops"]) {
    if (!op.is_string()) continue;
    sample.library_ops.push_back(op.get<std::string>());
    if (std::find(kFills.begin(), kFills.end(), sample.library_ops.back()) == kFills.end())
      sample.track = Track::kLibrary;
  }
}

void read_verdict(const json& verdict, Sample& sample) {
  sample.stage = text_or(verdict, "stage", "");
  sample.kind = text_or(verdict, "kind", "");
  sample.reason = text_or(verdict, "reason", "");
  sample.faster = flag_or(verdict, "faster", false);
  // What only an accepted verdict of a GPU can say is not believed of another.
  if (verdict.contains("counts") && verdict["counts"].is_boolean())
    sample.counts = verdict["counts"].get<bool>() && sample.state == State::kAccepted;
  read_plan(object_in(verdict, "plan"), sample);
  const json environment = object_in(verdict, "environment");
  const json device = object_in(environment, "device");
  sample.environment = {text_or(verdict, "backend", ""), text_or(device, "name", ""), text_or(device, "driver", ""),
                        text_or(environment, "torch", "")};
  for (const json& phase : array_in(verdict, "phases")) {
    const double seconds = number_or(phase, "s", -1);
    if (std::isfinite(seconds) && seconds >= 0) sample.phases_s.emplace_back(text_or(phase, "phase", "?"), seconds);
  }
  if (sample.state != State::kAccepted) return;  // times of anything else are no speed
  const json candidate = object_in(verdict, "candidate");
  sample.mean_ms = positive(object_in(candidate, "ms"), "mean");
  sample.median_ms = positive(object_in(candidate, "ms"), "median");
  sample.peak_bytes = count(candidate, "peak_bytes");
  const json baselines = object_in(verdict, "baselines");
  for (const auto& [name, timed] : baselines.items()) {
    if (is_name(name) && sample.baselines.size() < kMostBaselines) sample.baselines.push_back(baseline_of(name, timed));
  }
  std::sort(sample.baselines.begin(), sample.baselines.end(),
            [](const Baseline& a, const Baseline& b) { return baseline_before(a.name, b.name); });
}

}  // namespace

bool baseline_before(const std::string& a, const std::string& b) {
  constexpr std::array<std::string_view, 3> kFirst = {"eager", "graphed_eager", "null_plan"};
  const auto place = [&](const std::string& name) {
    return std::find(kFirst.begin(), kFirst.end(), name) - kFirst.begin();
  };
  return place(a) != place(b) ? place(a) < place(b) : a < b;
}

std::string Environment::words() const {
  if (backend != "cuda")
    return backend.empty() ? "unknown back end" : backend == "emulate" ? "emulated on a CPU" : "no GPU";
  return fmt::format("{}, driver {}, torch {}", gpu.empty() ? "unknown GPU" : gpu, driver.empty() ? "unknown" : driver,
                     torch.empty() ? "unknown" : torch);
}

const Baseline* Sample::baseline(const std::string& name) const {
  const auto found =
      std::find_if(baselines.begin(), baselines.end(), [&](const Baseline& b) { return b.name == name; });
  return found == baselines.end() ? nullptr : &*found;
}

std::optional<Speedup> Sample::speedup() const {
  const Baseline* eager = baseline("eager");
  return eager != nullptr ? eager->speedup : std::nullopt;
}

Sample sample_of(const run::SampleState& state) {
  Sample sample;
  sample.number = state.number;
  sample.requests = state.requests;
  const json verdict = state.verdict ? object_in(*state.verdict, "verdict") : json::object();
  sample.state = state_of(state, verdict);
  if (state.reply) read_reply(*state.reply, sample);
  if (state.verdict) read_verdict(verdict, sample);
  return sample;
}

}  // namespace kagent::score
