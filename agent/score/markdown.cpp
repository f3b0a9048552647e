// Scores as Markdown, its tables in columns so that a terminal shows them well too.

#include <fmt/format.h>

#include <algorithm>

#include "agent/base/printable.h"
#include "agent/score/best_of_k.h"
#include "agent/score/forms.h"
#include "agent/score/words.h"

namespace kagent::score {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Text from outside as text: one line, and no markup.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*[]<>&|").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Columns of code points, near enough for what stands here.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// The first row is the header.
std::string table(const Rows& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += "|";
    for (std::size_t i = 0; i < widths.size(); ++i)
      out += " " + rows[r][i] + std::string(widths[i] - width_of(rows[r][i]), ' ') + " |";
    out += "\n";
    if (r > 0) continue;
    out += "|";
    for (const std::size_t width : widths) out += std::string(width + 2, '-') + "|";
    out += "\n";
  }
  return out + "\n";
}

std::string interval_cell(const std::optional<Interval>& i, bool shares) {
  if (!i) return "";
  return shares ? fmt::format("{} to {}", percent(i->low), percent(i->high))
                : fmt::format("{} to {}", times_words(i->low), times_words(i->high));
}

std::vector<std::string> share_row(const std::string& name, const Share& share) {
  return {name, share.of > 0 ? percent(share.value()) : "", interval_cell(share.interval(), true),
          fmt::format("{} of {} tasks", share.hits, share.of)};
}

std::vector<std::string> estimate_row(const std::string& name, const Estimate& e, bool mixed) {
  if (!e.value) return {name, mixed ? "see each environment" : "not known", "", ""};
  return {name, times_words(*e.value), interval_cell(e.interval, false),
          fmt::format("{} {}", e.tasks, e.tasks == 1 ? "task" : "tasks")};
}

std::string head(const Scores& scores) {
  const Context& context = scores.context;
  const Asked& asked = context.asked;
  const SampleCounts& n = scores.samples;
  std::string out = fmt::format("# Scores of {}\n\n", plain(asked.run));
  out += fmt::format("- model: {}\n", plain(context.model_words()));
  out += fmt::format("- protocol: {}; prompt set {} ({})\n", plain(context.protocol_words()), plain(asked.prompt_set),
                     plain(asked.prompt_set_sha256.substr(0, 12)));
  out += fmt::format("- environment: {}; kagent {}; begun {}\n", plain(context.environment_words()),
                     plain(asked.kagent), plain(asked.created));
  out += fmt::format("- aggregation: {}\n", aggregation_words());
  out += fmt::format("- tasks: {}, of which {} begun, {} ended\n", scores.tasks, scores.logged, scores.ended);
  out += fmt::format(
      "- samples: {} planned: {} accepted, {} accepted by emulation, {} rejected, {} undecided, {} unjudged, {} "
      "waiting, {} "
      "not drawn\n",
      n.planned, n.accepted, n.emulated, n.rejected, n.undecided, n.unjudged, n.waiting, n.not_drawn);
  for (const std::string& note : scores.notes) out += fmt::format("- **note**: {}\n", plain(note));
  return out + "\n";
}

std::string headline(const Group& g) {
  Rows rows = {{"figure", "value", "95% interval", "over"}};
  rows.push_back(share_row("correct", g.correct));
  if (g.only_emulated > 0) rows.push_back(share_row("of these only by emulation", {g.only_emulated, g.correct.of}));
  rows.push_back(share_row("fast_1 (counts: surely faster than eager and the null plan)", g.counted));
  rows.push_back(estimate_row("geometric mean over correct", g.geomean_correct, g.mixed));
  rows.push_back(estimate_row("geometric mean over all, failures at 1", g.geomean_all, g.mixed));
  rows.push_back(estimate_row("the same, slower ones at 1 too", g.geomean_fallback, g.mixed));
  rows.push_back(estimate_row("memory efficiency (eager / candidate)", g.memory, g.mixed));
  rows.push_back(share_row("uses less memory than eager", g.memory_less));
  rows.push_back({"custom-kernel share of GPU time, median", g.custom_share ? percent(*g.custom_share) : "not known",
                  "", fmt::format("{} tasks", g.custom_share_tasks)});
  return "## All tracks, default precision tier\n\n" + table(rows);
}

std::string curve(const Group& g) {
  Rows rows = {{"p", "fast_p", "95% interval", "tasks"}};
  for (const auto& [p, share] : g.fast_p)
    rows.push_back({threshold_words(p), percent(share.value()), interval_cell(share.interval(), true),
                    std::to_string(share.hits)});
  return "## fast_p: correct and more than p times as fast as eager\n\n" + table(rows);
}

std::string against(const Group& g) {
  Rows rows = {{"baseline", "fast_1: low end > 1", "95% interval", "ratio > 1", "geometric mean", "measured"}};
  for (const AgainstBaseline& b : g.baselines) {
    const bool known = b.measured > 0;
    const bool sure = b.has_intervals();
    rows.push_back({b.name, sure ? percent(b.surely.value()) : "not known",
                    sure ? interval_cell(b.surely.interval(), true) : "", known ? percent(b.ratio_above.value()) : "",
                    b.geomean.value ? words_of(b.geomean) : "",
                    fmt::format("{} of {} tasks{}", b.measured, b.surely.of,
                                b.from_cache > 0 ? fmt::format(", {} from the cache", b.from_cache) : "")});
  }
  return "## fast_1 against each baseline\n\n" + table(rows);
}

std::string groups(const Scores& scores) {
  Rows rows = {{"group", "judged samples", "correct", "fast_1", "geometric mean over correct", "memory efficiency"}};
  const auto add = [&](const char* what, const std::vector<Group>& all) {
    for (const Group& g : all) {
      rows.push_back({fmt::format("{} {}", what, plain(g.name)), std::to_string(g.samples), words_of(g.correct),
                      words_of(g.counted), words_of(g.geomean_correct), words_of(g.memory)});
    }
  };
  add("track", scores.tracks);
  add("tier", scores.tiers);
  add("environment", scores.environments);
  return rows.size() == 1 ? "" : "## Apart by track, tier and environment\n\n" + table(rows);
}

std::string by_k(const Scores& scores) {
  if (scores.best_of_k.empty()) return "";
  Rows rows = {{"k", "correct", "fast_1", "geometric mean over all, failures at 1"}};
  for (const BestOfK& b : scores.best_of_k) {
    rows.push_back({std::to_string(b.k), percent_words(b.correct), percent_words(b.counted),
                    scores.unbiased ? "" : words_of(b.geomean_all)});
  }
  const std::string falls = why_it_falls(scores.best_of_k);
  return fmt::format("## {}\n\n", scores.unbiased ? "pass@k (unbiased estimate)" : "Best of the first k samples") +
         table(rows) + (falls.empty() ? "" : falls + "\n\n");
}

std::string against_cell(const std::optional<Against>& a) {
  return a ? fmt::format("{} ({})", times_words(a->speedup.ratio), a->name) : "";
}

std::string tasks(const Run& run) {
  Rows rows = {{"task", "samples", "best", "state", "counts", "speed-up", "95% interval", "over the fastest", "memory",
                "track", "tier"}};
  for (const Task& task : run.tasks) {
    const Sample* best = best_of(task, in_default_tier);
    if (best == nullptr) {
      const std::string state = !task.logged           ? "not begun"
                                : task.samples.empty() ? "not asked"
                                                       : to_string(task.samples.back().state);
      // Right in the other tier only: a failure here, and in no figure (a note says so).
      const Sample* other = best_of(task, [](const Sample&) { return true; });
      rows.push_back({plain(task.id), std::to_string(task.samples.size()), "",
                      other != nullptr ? to_string(other->state) : state, other != nullptr ? "no" : "", "", "", "", "",
                      "", other != nullptr ? to_string(other->tier) : ""});
      continue;
    }
    const auto s = best->speedup();
    const Baseline* eager = best->baseline("eager");
    const bool memory = eager != nullptr && eager->peak_bytes && best->peak_bytes && *best->peak_bytes > 0;
    rows.push_back(
        {plain(task.id), std::to_string(task.samples.size()), std::to_string(best->number), to_string(best->state),
         !best->counts   ? "not known"
         : *best->counts ? "yes"
                         : "no",
         s ? times_words(s->ratio) : "",
         s && s->low && s->high ? fmt::format("{} to {}", times_words(*s->low), times_words(*s->high)) : "",
         against_cell(against_fastest(*best)),
         memory ? times_words(static_cast<double>(*eager->peak_bytes) / static_cast<double>(*best->peak_bytes)) : "",
         to_string(best->track), to_string(best->tier)});
  }
  return "## Tasks\n\n" + table(rows);
}

std::string cost(const Cost& c) {
  return fmt::format(
      "## Cost\n\nreplies {}, requests {}; {}; {}\n", c.replies, c.requests,
      c.usd_known > 0 ? fmt::format("{:.4f} USD for the {} replies whose cost is known", c.usd, c.usd_known)
                      : "cost unknown",
      c.tokens_known > 0
          ? fmt::format("{} input tokens ({} from a cache) and {} output tokens ({} of reasoning) for the {} "
                        "replies that say so",
                        c.input_tokens, c.cached_tokens, c.output_tokens, c.reasoning_tokens, c.tokens_known)
          : "tokens unknown");
}

}  // namespace

std::string to_markdown(const Run& run, const Scores& scores) {
  return head(scores) + headline(scores.all) + curve(scores.all) + against(scores.all) + groups(scores) + by_k(scores) +
         tasks(run) + cost(scores.cost);
}

}  // namespace kagent::score
