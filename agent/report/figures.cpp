// Speed-ups, fast_p, time and cost: each a figure and its numbers.

#include <fmt/format.h>

#include <algorithm>

#include "agent/report/charts.h"
#include "agent/report/parts.h"
#include "agent/report/tables.h"
#include "agent/score/best.h"
#include "agent/score/words.h"

namespace kagent::report {
namespace {

Html legend(const std::vector<std::string>& names) {
  Html out;
  out << "<ul class=legend>";
  for (std::size_t i = 0; i < names.size(); ++i) out << "<li>" << swatch(i) << text(names[i]) << "</li>";
  out << "</ul>";
  return out;
}

Html figure(const Html& chart) {
  Html out;
  out << "<figure class=wide tabindex=0 role=group aria-label=\"Chart\">" << chart << "</figure>\n";
  return out;
}

std::string count_words(std::int64_t value, int known) { return known > 0 ? fmt::format("{}", value) : "not known"; }

}  // namespace

Html speedups(const Gathered& all) {
  std::vector<const score::Sample*> best;
  std::vector<std::pair<double, BarGroup>> groups;
  std::vector<std::string> baselines;
  Table table("Speed-up of each task's best sample (mean baseline time / mean candidate time), 95% interval",
              {"task", "sample", "baseline", "#speed-up", "#95% interval"});
  for (const score::Task& task : all.run.tasks) {
    const score::Sample* sample = score::best_of(task, score::in_default_tier);
    if (sample == nullptr || !sample->speedup()) continue;
    BarGroup group{task.id, {}};
    for (const score::Baseline& b : sample->baselines) {
      if (!b.speedup) continue;
      if (std::find(baselines.begin(), baselines.end(), b.name) == baselines.end()) baselines.push_back(b.name);
      group.bars.push_back({b.name, b.speedup->ratio, b.speedup->low.value_or(b.speedup->ratio),
                            b.speedup->high.value_or(b.speedup->ratio)});
      table.row({text(task.id), Html() << sample->number, text(b.name), text(score::times_words(b.speedup->ratio)),
                 text(b.from_cache ? "not timed side by side" : score::interval_words(*b.speedup))});
    }
    groups.emplace_back(sample->speedup()->ratio, group);
  }
  Html out;
  out << "<section aria-labelledby=speedups><h2 id=speedups>Speed-up per task</h2>\n";
  if (groups.empty())
    return out << "<p class=note>No sample has a measured speed-up. Times need a GPU; emulated verdicts say only what "
                  "is right.</p></section>\n";
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::sort(baselines.begin(), baselines.end(), score::baseline_before);
  std::vector<BarGroup> sorted;
  for (auto& [ratio, group] : groups) sorted.push_back(std::move(group));
  out << "<p class=note>" << static_cast<int>(sorted.size()) << " of " << all.scores.tasks
      << " tasks have a measured speed-up. Fastest first; logarithmic; the thin line is the 95% interval; right of 1x "
         "is faster than the baseline.</p>"
      << legend(baselines) << figure(bar_chart(sorted, baselines)) << details("The numbers", "", table.html())
      << "</section>\n";
  return out;
}

Html curve(const Gathered& all) {
  Table table("fast_p: correct and more than p times as fast as eager", {"p", "#fast_p", "#95% interval", "#tasks"});
  for (const auto& [p, share] : all.scores.all.fast_p) {
    const auto i = share.interval();
    table.row({text(score::threshold_words(p)), text(score::percent(share.value())),
               text(i ? fmt::format("{} to {}", score::percent(i->low), score::percent(i->high)) : ""),
               Html() << share.hits});
  }
  Html out;
  out << "<section aria-labelledby=fastp><h2 id=fastp>fast_p</h2>\n<p class=note>The share of all " << all.scores.tasks
      << " tasks that are correct and more than p times as fast as eager. The band is Wilson's 95% interval.</p>"
      << figure(curve_chart(all.scores.all.fast_p)) << details("The numbers", "", table.html()) << "</section>\n";
  return out;
}

Html phases(const Gathered& all) {
  Html out;
  out << "<section aria-labelledby=time><h2 id=time>Where the time went</h2>\n";
  if (all.scores.phases.empty()) return out << "<p class=note>Nothing was judged yet.</p></section>\n";
  double total = 0;
  for (const score::Phase& phase : all.scores.phases) total += phase.seconds;
  Table table("Seconds of judging by phase, all samples", {"phase", "#seconds", "#share", "#samples"});
  for (std::size_t i = 0; i < all.scores.phases.size(); ++i) {
    const score::Phase& phase = all.scores.phases[i];
    table.row({Html() << swatch(i) << text(phase.name), text(fmt::format("{:.1f}", phase.seconds)),
               text(total > 0 ? score::percent(phase.seconds / total) : ""), Html() << phase.samples});
  }
  out << "<p class=note>" << text(fmt::format("{:.0f}", total)) << " s of judging in all.</p>"
      << figure(stack_chart(all.scores.phases)) << table.html() << "</section>\n";
  return out;
}

Html cost(const Gathered& all) {
  const score::Cost& c = all.scores.cost;
  Table table("Tokens and cost over all replies", {"", "#sum", "#known for"});
  const std::string known = fmt::format("{} of {} replies", c.tokens_known, c.replies);
  table.row({text("input tokens"), text(count_words(c.input_tokens, c.tokens_known)), text(known)});
  table.row({text("of these from a cache"), text(count_words(c.cached_tokens, c.tokens_known)), text(known)});
  table.row({text("output tokens"), text(count_words(c.output_tokens, c.tokens_known)), text(known)});
  table.row({text("of these reasoning"), text(count_words(c.reasoning_tokens, c.tokens_known)), text(known)});
  table.row({text("USD"), text(c.usd_known > 0 ? fmt::format("{:.4f}", c.usd) : "not known"),
             text(fmt::format("{} of {} replies", c.usd_known, c.replies))});
  table.row({text("requests"), Html() << c.requests, Html()});
  Html out;
  out << "<section aria-labelledby=cost><h2 id=cost>Tokens and cost</h2>\n" << table.html() << "</section>\n";
  return out;
}

}  // namespace kagent::report
