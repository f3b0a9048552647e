#include <cmath>

#include "agent/score/forms.h"
#include "agent/score/words.h"

namespace kagent::score {
namespace {

using nlohmann::json;

template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json interval_json(const std::optional<Interval>& interval) {
  return interval ? json::array({interval->low, interval->high}) : json();
}

json share_json(const Share& share) {
  return {
      {"hits", share.hits}, {"of", share.of}, {"share", share.value()}, {"interval", interval_json(share.interval())}};
}

json estimate_json(const Estimate& estimate) {
  return {
      {"value", or_null(estimate.value)}, {"interval", interval_json(estimate.interval)}, {"tasks", estimate.tasks}};
}

json speedup_json(const std::optional<Speedup>& s) {
  return s ? json{{"ratio", s->ratio}, {"low", or_null(s->low)}, {"high", or_null(s->high)}} : json();
}

json environment_json(const Environment& e) {
  return {{"backend", e.backend}, {"gpu", e.gpu}, {"driver", e.driver}, {"torch", e.torch}};
}

json context_json(const Context& context) {
  const Asked& asked = context.asked;
  json models = json::array();
  for (const auto& [name, replies] : context.models) models.push_back({{"model", name}, {"replies", replies}});
  json environments = json::array();
  for (const auto& [environment, verdicts] : context.environments) {
    json one = environment_json(environment);
    one["verdicts"] = verdicts;
    environments.push_back(one);
  }
  return {{"run", asked.run},
          {"created", asked.created},
          {"kagent", asked.kagent},
          {"model", asked.model},
          {"models_returned", models},
          {"protocol", asked.protocol},
          {"samples_planned", asked.samples},
          {"stop_when_faster", asked.stop_when_faster},
          {"prompt_set", asked.prompt_set},
          {"prompt_set_sha256", asked.prompt_set_sha256},
          {"request", asked.request},
          {"environments", environments},
          {"mixed_environments", context.mixed()},
          {"aggregation", aggregation_words()},
          {"intervals", "95%: Wilson for shares, bootstrap over tasks for means"}};
}

json group_json(const Group& group) {
  json fast_p = json::array();
  for (const auto& [p, share] : group.fast_p) {
    json one = share_json(share);
    one["p"] = p;
    fast_p.push_back(one);
  }
  json baselines = json::array();
  for (const AgainstBaseline& b : group.baselines) {
    baselines.push_back({{"baseline", b.name},
                         {"measured", b.measured},
                         {"from_cache", b.from_cache},
                         {"fast_1", share_json(b.surely)},
                         {"ratio_above_1", share_json(b.ratio_above)},
                         {"geomean", estimate_json(b.geomean)}});
  }
  return {{"name", group.name},
          {"judged_samples", group.samples},
          {"correct", share_json(group.correct)},
          {"correct_only_emulated", group.only_emulated},
          {"fast_1", share_json(group.counted)},
          {"fast_p", fast_p},
          {"fast_1_against", baselines},
          {"geomean_correct", estimate_json(group.geomean_correct)},
          {"geomean_all", estimate_json(group.geomean_all)},
          {"geomean_fallback", estimate_json(group.geomean_fallback)},
          {"memory_efficiency", estimate_json(group.memory)},
          {"memory_less", share_json(group.memory_less)},
          {"custom_share_median", or_null(group.custom_share)},
          {"custom_share_tasks", group.custom_share_tasks},
          {"mixed_environments", group.mixed}};
}

json groups_json(const std::vector<Group>& groups) {
  json out = json::array();
  for (const Group& group : groups) out.push_back(group_json(group));
  return out;
}

json sample_json(const Sample& s) {
  json baselines = json::object();
  for (const Baseline& b : s.baselines) {
    baselines[b.name] = {{"mean_ms", or_null(b.mean_ms)},
                         {"median_ms", or_null(b.median_ms)},
                         {"peak_bytes", or_null(b.peak_bytes)},
                         {"speedup", speedup_json(b.speedup)},
                         {"passes_official_check", or_null(b.passes_official)},
                         {"from_cache", b.from_cache},
                         {"note", b.note}};
  }
  return {{"sample", s.number},
          {"state", to_string(s.state)},
          {"counts", or_null(s.counts)},
          {"faster", s.faster},
          {"tier", to_string(s.tier)},
          {"track", to_string(s.track)},
          {"stage", s.stage},
          {"kind", s.kind},
          {"environment", environment_json(s.environment)},
          {"speedup", speedup_json(s.speedup())},
          {"mean_ms", or_null(s.mean_ms)},
          {"median_ms", or_null(s.median_ms)},
          {"peak_bytes", or_null(s.peak_bytes)},
          {"custom_share", or_null(s.custom_share)},
          {"baselines", baselines},
          {"cost_usd", or_null(s.cost_usd)},
          {"input_tokens", or_null(s.tokens.input)},
          {"output_tokens", or_null(s.tokens.output)}};
}

json tasks_json(const Run& run) {
  json tasks = json::array();
  for (const Task& task : run.tasks) {
    json samples = json::array();
    for (const Sample& sample : task.samples) samples.push_back(sample_json(sample));
    const Sample* best = best_of(task, in_default_tier);
    tasks.push_back({{"task", task.id},
                     {"logged", task.logged},
                     {"ended", task.ended},
                     {"end_reason", task.end_reason},
                     {"best_sample", best != nullptr ? json(best->number) : json()},
                     {"samples", samples}});
  }
  return tasks;
}

}  // namespace

json to_json(const Run& run, const Scores& scores) {
  const SampleCounts& n = scores.samples;
  const Cost& cost = scores.cost;
  json best_of_k = json::array();
  for (const BestOfK& b : scores.best_of_k) {
    best_of_k.push_back({{"k", b.k},
                         {"correct", estimate_json(b.correct)},
                         {"fast_1", estimate_json(b.counted)},
                         {"geomean_all", estimate_json(b.geomean_all)}});
  }
  json phases = json::array();
  for (const Phase& phase : scores.phases)
    phases.push_back({{"phase", phase.name}, {"s", phase.seconds}, {"samples", phase.samples}});
  return {{"context", context_json(scores.context)},
          {"notes", scores.notes},
          {"tasks_total", scores.tasks},
          {"tasks_logged", scores.logged},
          {"tasks_ended", scores.ended},
          {"samples",
           {{"planned", n.planned},
            {"accepted", n.accepted},
            {"emulated", n.emulated},
            {"rejected", n.rejected},
            {"undecided", n.undecided},
            {"unjudged", n.unjudged},
            {"waiting", n.waiting},
            {"not_drawn", n.not_drawn}}},
          {"scores", group_json(scores.all)},
          {"tracks", groups_json(scores.tracks)},
          {"tiers", groups_json(scores.tiers)},
          {"by_environment", groups_json(scores.environments)},
          {scores.unbiased ? "pass_at_k" : "best_of_k", best_of_k},
          {"cost",
           {{"replies", cost.replies},
            {"requests", cost.requests},
            {"usd", cost.usd},
            {"usd_known_replies", cost.usd_known},
            {"input_tokens", cost.input_tokens},
            {"output_tokens", cost.output_tokens},
            {"reasoning_tokens", cost.reasoning_tokens},
            {"cached_tokens", cost.cached_tokens},
            {"tokens_known_replies", cost.tokens_known}}},
          {"phases", phases},
          {"tasks", tasks_json(run)}};
}

}  // namespace kagent::score
