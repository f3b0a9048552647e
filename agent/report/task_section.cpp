// One task: its samples side by side.

#include <fmt/format.h>

#include "agent/base/json_text.h"
#include "agent/report/parts.h"
#include "agent/score/best.h"
#include "agent/score/words.h"

namespace kagent::report {
namespace {

using nlohmann::json;

// How a sample ended, in words and in a colour.
Html badge(const score::Sample& s) {
  Html out;
  switch (s.state) {
    case score::State::kAccepted:
      return s.faster ? out << "<span class=\"badge good\">accepted, faster</span>"
                      : out << "<span class=\"badge warn\">accepted, not faster</span>";
    case score::State::kEmulated:
      return out << "<span class=\"badge good\">right by emulation</span>";
    case score::State::kRejected:
      return out << "<span class=\"badge bad\">rejected</span>";
    default:
      return out << "<span class=badge>" << text(score::to_string(s.state)) << "</span>";
  }
}

Html headline(const score::Sample& s) {
  Html out;
  if (const auto speedup = s.speedup()) {
    out << "<p><strong>" << text(score::times_words(speedup->ratio))
        << "</strong> as fast as eager <span class=aside>95%: " << text(score::interval_words(*speedup))
        << "</span></p>";
  }
  if (s.state == score::State::kEmulated)
    out << "<p class=note>Right on a CPU. Speed needs a GPU; this never counts.</p>";
  if (s.state == score::State::kWaiting) out << "<p class=note>Asked, and no reply so far.</p>";
  if (s.state == score::State::kUnjudged) out << "<p class=note>Answered, and not judged so far.</p>";
  if (!s.stage.empty()) out << "<p>Ended at <strong>" << text(s.stage) << "</strong> (" << text(s.kind) << ")</p>";
  if (!s.reason.empty()) out << "<blockquote>" << text(s.reason.substr(0, 4000)) << "</blockquote>";
  return out;
}

void fact(Html& out, std::string_view name, const std::string& value) {
  if (!value.empty()) out << "<div><dt>" << text(name) << "</dt><dd>" << text(value) << "</dd></div>";
}

Html facts(const score::Sample& s, const SamplePage& page) {
  const auto tokens = [](const std::optional<std::int64_t>& n) {
    return n ? fmt::format("{}", *n) : std::string("not known");
  };
  Html out;
  out << "<dl class=facts>";
  if (!page.reply.empty()) {
    fact(out, "Model", s.model);
    fact(out, "Tokens", fmt::format("in {}, out {}", tokens(s.tokens.input), tokens(s.tokens.output)));
    fact(out, "Cost", s.cost_usd ? fmt::format("{:.4f} USD", *s.cost_usd) : "not known");
    fact(out, "Finish reason",
         text_or(page.reply, "finish_reason", "") + (flag_or(page.reply, "truncated", false) ? ", cut off" : ""));
  }
  if (!page.verdict.empty()) {
    fact(out, "Counts", !s.counts ? "not known" : *s.counts ? "yes" : "no");
    fact(out, "Tier, track", fmt::format("{}, {}", score::to_string(s.tier), score::to_string(s.track)));
    fact(out, "Custom-kernel share", s.custom_share ? score::percent(*s.custom_share) : "");
    fact(out, "Judged on", s.environment.words());
  }
  for (const json& warning : array_in(page.verdict, "warnings")) {
    if (warning.is_string()) fact(out, "Warning", warning.get<std::string>());
  }
  if (page.verdict.is_object() && page.verdict.contains("line") && page.verdict["line"].is_number_integer())
    fact(out, "At",
         fmt::format("line {} of the {} block", page.verdict["line"].dump(), text_or(page.verdict, "block", "?")));
  return out << "</dl>\n";
}

Html rules(const SamplePage& page) {
  const Html table = rules_table(page.verdict);
  if (page.verdict.empty()) return {};
  Html none;
  if (table.empty())
    return none << "<p class=note>This verdict has no record of rules; it was made before there was one, or ended "
                   "before judging.</p>";
  int passed = 0;
  int failed = 0;
  int flagged = 0;
  int not_run = 0;
  for (const json& rule : array_in(page.verdict, "rules")) {
    const std::string outcome = text_or(rule, "outcome", "");
    ++(outcome == "pass" ? passed : outcome == "fail" ? failed : outcome == "flag" ? flagged : not_run);
  }
  return details("Rules", fmt::format("{} pass, {} fail, {} flag, {} not run", passed, failed, flagged, not_run),
                 table);
}

Html phases_words(const score::Sample& s) {
  Html out;
  if (s.phases_s.empty()) return out;
  out << "<ul class=plainlist>";
  double total = 0;
  for (const auto& [name, seconds] : s.phases_s) {
    out << "<li>" << text(fmt::format("{}: {:.2f} s", name, seconds)) << "</li>";
    total += seconds;
  }
  return details("Judging time", fmt::format("{:.1f} s", total), out << "</ul>");
}

void add(Html& out, std::string_view summary, const Stored& stored, const Html& what) {
  if (stored.there) out << details(summary, size_words(stored), what);
}

Html card(const Gathered& all, std::size_t t, std::size_t i) {
  const score::Sample& s = all.run.tasks[t].samples[i];
  const TaskPage& task = all.tasks[t];
  const SamplePage& page = task.samples[i];
  Html out;
  out << "<article class=card id=\"task-" << static_cast<int>(t + 1) << "-sample-" << s.number << "\">\n<h4>Sample "
      << s.number << " " << badge(s) << "</h4>\n"
      << headline(s) << times_table(s) << facts(s, page) << rules(page);
  for (const Stored* one : {&page.prompt, &page.answer, &page.plan, &page.compile_log}) {
    if (!one->problem.empty())
      out << "<p class=problem>A text of this sample is missing or damaged: " << text(one->problem) << "</p>";
  }
  const auto fold = [&](std::string_view name, const Html& what) {
    if (!what.empty()) out << details(name, "", what);
  };
  fold("Comparisons", checks_table(page.verdict));
  fold("Profile", profile_table(page.verdict));
  fold("Compiled kernels", kernels_table(page.verdict));
  out << phases_words(s);
  add(out, "CUDA", page.cuda, code(page.cuda, Language::kCuda));
  add(out, "Host program", page.python, code(page.python, Language::kPython));
  if (!page.no_blocks.empty())
    out << "<p class=note>The reply has no usable blocks: " << text(page.no_blocks) << "</p>";
  add(out, "Launch plan", page.plan, plain(page.plan));
  if (page.compile_log.bytes > 0 || !page.compile_log.problem.empty())
    add(out, "Compiler's log", page.compile_log, plain(page.compile_log));
  add(out, i == 0 ? "Prompt" : "Prompt, with the feedback on earlier samples", page.prompt,
      prompt_after(page.prompt, task, i));
  add(out, "Raw reply", page.answer, plain(page.answer));
  if (i + 1 < task.samples.size() && task.samples[i + 1].prompt.there &&
      task.samples[i + 1].prompt_sha256 != page.prompt_sha256)
    out << "<p class=note>What was fed back of this: <a href=\"#task-" << static_cast<int>(t + 1) << "-sample-"
        << s.number + 1 << "\">the prompt of sample " << s.number + 1 << "</a></p>";
  return out << "</article>\n";
}

Html summary(const score::Task& task) {
  Html out;
  out << "<h3>Task " << text(task.id) << "</h3> ";
  const score::Sample* best = score::best_of(task, score::in_default_tier);
  if (task.damage) return out << "<span class=\"badge bad\">log damaged</span>";
  if (best == nullptr && task.samples.empty()) return out << "<span class=badge>not begun</span>";
  const score::Sample& shown = best != nullptr ? *best : task.samples.back();
  out << badge(shown);
  if (const auto s = shown.speedup()) out << " <strong>" << text(score::times_words(s->ratio)) << "</strong>";
  const auto samples = static_cast<int>(task.samples.size());
  return out << " <span class=aside>" << samples << " " << text(samples == 1 ? "sample" : "samples")
             << text(task.ended ? "" : ", not finished") << "</span>";
}

}  // namespace

Html task_section(const Gathered& all, std::size_t t) {
  const score::Task& task = all.run.tasks[t];
  const TaskPage& page = all.tasks[t];
  Html out;
  out << (all.run.tasks.size() <= 3 ? Markup("<details class=task open>") : Markup("<details class=task>"))
      << "<summary>" << summary(task) << "</summary>\n<div id=\"task-" << static_cast<int>(t + 1) << "\" class=body>";
  if (task.damage)
    return out << "<p class=problem>The log cannot be read: " << text(task.damage->message) << "</p></div></details>\n";
  if (task.samples.empty())
    return out << "<p class=note>No model was asked about this task so far.</p></div></details>\n";
  if (!task.end_reason.empty()) out << "<p class=note>Ended: " << text(task.end_reason) << "</p>";
  if (page.source.there)
    out << details("The task's PyTorch source", size_words(page.source), code(page.source, Language::kPython));
  out << "<div class=samples role=group tabindex=0 aria-label=\"Samples of task " << text(task.id) << "\">\n";
  for (std::size_t i = 0; i < task.samples.size(); ++i) out << card(all, t, i);
  return out << "</div></div></details>\n";
}

}  // namespace kagent::report
