// The run at a glance: what it is, what it came to.

#include <fmt/format.h>

#include "agent/report/parts.h"
#include "agent/report/tables.h"
#include "agent/score/best_of_k.h"
#include "agent/score/words.h"

namespace kagent::report {
namespace {

using score::Estimate;
using score::Group;
using score::Interval;
using score::Share;

std::string interval_words(const std::optional<Interval>& i, bool share) {
  if (!i) return "";
  return share ? fmt::format("{} to {}", score::percent(i->low), score::percent(i->high))
               : fmt::format("{} to {}", score::times_words(i->low), score::times_words(i->high));
}

Html tile(std::string_view name, const std::string& value, const std::string& aside) {
  Html out;
  out << "<div class=tile><dt>" << text(name) << "</dt><dd><span class=big>" << text(value)
      << "</span><span class=aside>" << text(aside) << "</span></dd></div>\n";
  return out;
}

Html tile(std::string_view name, const Share& share) {
  return tile(name, score::percent(share.value()),
              fmt::format("{} of {} tasks; 95%: {}", share.hits, share.of, interval_words(share.interval(), true)));
}

Html tile(std::string_view name, const Estimate& e) {
  if (!e.value) return tile(name, "not known", "");
  return tile(name, score::times_words(*e.value),
              fmt::format("{} {}{}", e.tasks, e.tasks == 1 ? "task" : "tasks",
                          e.interval ? "; 95%: " + interval_words(e.interval, false) : "; no interval"));
}

void share_row(Table& table, std::string_view name, const Share& share) {
  table.row({text(name), text(share.of > 0 ? score::percent(share.value()) : "nothing to count"),
             text(interval_words(share.interval(), true)), text(fmt::format("{} of {} tasks", share.hits, share.of))});
}

void estimate_row(Table& table, std::string_view name, const Estimate& e, bool mixed) {
  table.row({text(name),
             text(e.value ? score::times_words(*e.value)
                  : mixed ? "see each environment"
                          : "not known"),
             text(interval_words(e.interval, false)),
             text(fmt::format("{} {}", e.tasks, e.tasks == 1 ? "task" : "tasks"))});
}

Html identity(const Gathered& all) {
  const score::Context& context = all.scores.context;
  const score::SampleCounts& n = all.scores.samples;
  Table table("What this is a report of", {"", "of this run"});
  const auto row = [&](std::string_view name, const std::string& value) { table.row({text(name), text(value)}); };
  row("Model", context.model_words());
  row("Request parameters", context.asked.request);
  row("Protocol", context.protocol_words());
  row("Prompt set", fmt::format("{} ({})", context.asked.prompt_set, context.asked.prompt_set_sha256.substr(0, 12)));
  row("Tasks", fmt::format("{}, of which {} begun, {} ended", all.scores.tasks, all.scores.logged, all.scores.ended));
  row("Samples",
      fmt::format("{} planned: {} accepted, {} accepted by emulation, {} rejected, {} undecided, {} unjudged, {} "
                  "waiting, {} not drawn",
                  n.planned, n.accepted, n.emulated, n.rejected, n.undecided, n.unjudged, n.waiting, n.not_drawn));
  if (context.environments.empty()) row("Environment", "no verdict yet");
  for (const auto& [environment, verdicts] : context.environments)
    row("Environment",
        fmt::format("{} ({} {})", environment.words(), verdicts, verdicts == 1 ? "verdict" : "verdicts"));
  row("Begun", fmt::format("{}, by kagent {}", context.asked.created, context.asked.kagent));
  row("Aggregation", score::aggregation_words());
  return table.html();
}

Html scores_table(const Gathered& all) {
  const Group& g = all.scores.all;
  Table table("Scores: all tracks, default precision tier, the best sample of each task",
              {"figure", "#value", "#95% interval", "#over"});
  share_row(table, "correct", g.correct);
  if (g.only_emulated > 0)
    share_row(table, "of these only by emulation (speed unknown)", {g.only_emulated, g.correct.of});
  share_row(table, "fast_1: surely faster than eager and the null plan", g.counted);
  estimate_row(table, "geometric mean over correct", g.geomean_correct, g.mixed);
  estimate_row(table, "geometric mean over all, failures at 1", g.geomean_all, g.mixed);
  estimate_row(table, "the same, slower ones at 1 too", g.geomean_fallback, g.mixed);
  estimate_row(table, "memory efficiency (eager / candidate)", g.memory, g.mixed);
  share_row(table, "uses less memory than eager", g.memory_less);
  table.row({text("custom-kernel share of GPU time, median"),
             text(g.custom_share ? score::percent(*g.custom_share) : "not known"), Html(),
             text(fmt::format("{} {}", g.custom_share_tasks, g.custom_share_tasks == 1 ? "task" : "tasks"))});
  return table.html();
}

Html against_table(const Group& g) {
  Table table("fast_1 against each baseline",
              {"baseline", "#low end > 1", "#95% interval", "#ratio > 1", "#geometric mean", "#measured"});
  for (const score::AgainstBaseline& b : g.baselines) {
    const bool known = b.measured > 0;
    table.row({text(b.name), text(b.has_intervals() ? score::percent(b.surely.value()) : "not known"),
               text(b.has_intervals() ? interval_words(b.surely.interval(), true) : ""),
               text(known ? score::percent(b.ratio_above.value()) : ""),
               text(b.geomean.value ? score::words_of(b.geomean) : ""),
               text(fmt::format("{} of {}{}", b.measured, b.surely.of,
                                b.from_cache > 0 ? fmt::format(", {} from the cache", b.from_cache) : ""))});
  }
  return table.empty() ? Html() : table.html();
}

Html groups_table(const score::Scores& scores) {
  Table table("Apart by track, precision tier and environment",
              {"group", "#judged samples", "correct", "fast_1", "geometric mean over correct", "memory efficiency"});
  const auto add = [&](const char* what, const std::vector<Group>& groups) {
    for (const Group& g : groups)
      table.row({text(fmt::format("{} {}", what, g.name)), Html() << g.samples, text(score::words_of(g.correct)),
                 text(score::words_of(g.counted)), text(score::words_of(g.geomean_correct)),
                 text(score::words_of(g.memory))});
  };
  add("track", scores.tracks);
  add("tier", scores.tiers);
  add("environment", scores.environments);
  return table.empty() ? Html() : table.html();
}

Html by_k(const score::Scores& scores) {
  Table table(scores.unbiased ? "pass@k (unbiased estimate)" : "Best of the first k samples",
              {"k", "correct", "fast_1", "geometric mean over all, failures at 1"});
  for (const score::BestOfK& b : scores.best_of_k)
    table.row({Html() << b.k, text(score::percent_words(b.correct)), text(score::percent_words(b.counted)),
               text(scores.unbiased ? "" : score::words_of(b.geomean_all))});
  Html out;
  if (table.empty()) return out;
  out << table.html();
  if (const std::string falls = score::why_it_falls(scores.best_of_k); !falls.empty())
    out << "<p class=note>" << text(falls) << "</p>\n";
  return out;
}

}  // namespace

Html glance(const Gathered& all) {
  const Group& g = all.scores.all;
  Html out;
  out << "<section aria-labelledby=glance><h2 id=glance>At a glance</h2>\n<dl class=tiles>"
      << tile("Correct", g.correct) << tile("fast_1", g.counted)
      << tile("Speed-up over eager, correct tasks", g.geomean_correct) << tile("Memory efficiency", g.memory)
      << "</dl>\n<p class=note>" << text(all.scores.context.protocol_words()) << ". "
      << text(score::aggregation_words()) << ".</p>\n";
  if (!all.scores.notes.empty()) {
    out << "<ul class=notes aria-label=\"Notes\">";
    for (const std::string& note : all.scores.notes) out << "<li>" << text(note) << "</li>";
    out << "</ul>\n";
  }
  for (const score::Task& task : all.run.tasks) {
    if (task.damage)
      out << "<p class=problem>The log of task " << text(task.id)
          << " cannot be read, and the task counts as not begun: " << text(task.damage->message) << "</p>\n";
  }
  out << identity(all) << scores_table(all) << against_table(g) << groups_table(all.scores) << by_k(all.scores)
      << "</section>\n";
  return out;
}

}  // namespace kagent::report
