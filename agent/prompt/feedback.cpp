#include "agent/prompt/feedback.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "agent/base/json_text.h"
#include "agent/base/printable.h"

namespace kagent {
namespace {

using kainjow::mustache::data;
using nlohmann::json;

constexpr std::size_t kCompileErrorBytes = 4000;
constexpr std::size_t kProfileRows = 15;
constexpr std::size_t kEagerRows = 8;
constexpr std::size_t kMostKernels = 40;
constexpr std::size_t kMostDraws = 20;

std::string text(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

double number(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number() ? it->get<double>() : 0;
}

const json& child(const json& object, const char* key) {
  static const json kNothing = json::object();
  const auto it = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && it != object.end() ? *it : kNothing;
}

// Printable text in one line: what the model wrote must not forge the prompt's own structure.
std::string one_line(std::string s, std::size_t most) {
  s = printable(s);
  std::replace(s.begin(), s.end(), '`', '\'');
  if (s.size() <= most) return s;
  while (most > 0 && (static_cast<unsigned char>(s[most]) & 0xC0) == 0x80) --most;  // no half of a character
  return s.substr(0, most) + "...";
}

// A value as it stands in a verdict.
std::string shown(const json& object, const char* key) {
  const auto it = object.find(key);
  return one_line(it == object.end() ? "null" : it->dump(), 100);
}

// A blind task's sizes must not come back through an error text (an answer can raise one that prints a shape).
std::string without_numbers(std::string s) {
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const bool digit = s[i] >= '0' && s[i] <= '9';
    if (!digit) out += s[i];
    if (digit && (i == 0 || s[i - 1] < '0' || s[i - 1] > '9')) out += '#';
  }
  return out;
}

std::string line_of(const std::string& block, int line) {
  std::size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    begin = block.find('\n', begin);
    if (begin == std::string::npos) return "";
    ++begin;
  }
  return block.substr(begin, block.find('\n', begin) - begin);
}

std::string headline(const json& verdict) {
  const std::string outcome = text(verdict, "outcome");
  if (outcome != "accepted") return outcome;
  const bool faster = flag_or(verdict, "faster", false);
  std::string line = !faster                            ? "correct, but not faster"
                     : flag_or(verdict, "counts", true) ? "accepted and faster"
                                                        : "correct and faster, but it does not count";
  for (const json& rule : array_in(verdict, "rules")) {
    if (text(rule, "rule") == "precision_tier" && text(rule, "outcome") == "flag")
      line += "; " + one_line(text(rule, "what"), 200);
  }
  return line;
}

std::string comparison_line(const json& check, bool blind) {
  if (flag_or(check, "passed", false)) return "passed";
  if (check.contains("run")) return blind ? "failed to run" : one_line(text(check["run"], "reason"), 300);
  std::string line = "FAILED";
  for (const json& out : array_in(check, "outputs")) {
    if (number(out, "violations") <= 0 && flag_or(out, "passed", true)) continue;
    line += fmt::format("; {}: largest absolute difference {:.3g}", one_line(text(out, "name"), 60),
                        number(out, "max_abs"));
    if (number(out, "nan") > 0) line += ", NaN among your values";
    if (blind) continue;
    line += fmt::format(", {:.0f} of {:.0f} elements outside tolerance", number(out, "violations"),
                        number(out, "elements"));
    if (out.contains("worst_index")) {
      line += fmt::format(", worst at {}: yours {}, reference {}", shown(out, "worst_index"), shown(out, "worst_got"),
                          shown(out, "worst_want"));
    }
  }
  for (const json& state : array_in(check, "state")) {
    if (flag_or(state, "passed", true)) continue;
    line += fmt::format("; buffer {} differs after the call", one_line(text(state, "name"), 80));
  }
  if (line == "FAILED" && !blind) line += ": " + one_line(text(check, "reason"), 300);
  return line;
}

// Temporary folders differ from run to run, and a prompt may not.
std::string without_paths(const std::string& line) {
  static const std::regex kPath("(/[A-Za-z0-9_.+-]+)+/([A-Za-z0-9_.+-]+)");
  return std::regex_replace(line, kPath, "$2");
}

std::string compile_errors(const EarlierSample& sample) {
  std::string out;
  for (const json& e : array_in(object_in(sample.verdict, "compile"), "errors")) {
    if (!e.is_object()) continue;
    const int line = e.contains("line") && e["line"].is_number_integer() ? e["line"].get<int>() : 0;
    out += line > 0 ? fmt::format("cuda line {}: {}\n", line, one_line(text(e, "message"), 500))
                    : one_line(text(e, "message"), 500) + "\n";
    if (const std::string source = line > 0 ? line_of(sample.cuda, line) : ""; !source.empty()) {
      out += "    " + one_line(source, 200) + "\n";
    }
    if (out.size() > kCompileErrorBytes) break;
  }
  if (out.empty() && text(sample.verdict, "stage") == "compile") {
    std::istringstream lines(sample.compile_log.substr(0, kCompileErrorBytes));
    for (std::string line; std::getline(lines, line);) out += without_paths(one_line(line, 500)) + "\n";
  }
  return out;
}

std::string mean_median(const json& timed) {
  const json& ms = child(timed, "ms");
  return ms.contains("mean") ? fmt::format("{:.4g} / {:.4g}", number(ms, "mean"), number(ms, "median")) : "";
}

std::string speedup(const json& timed) {
  const json& s = child(timed, "speedup");
  return s.contains("ratio") ? fmt::format("{:.3g}x (95% interval {:.3g} to {:.3g})", number(s, "ratio"),
                                           number(s, "low"), number(s, "high"))
                             : "";
}

data rows(const json& kernels, std::size_t most, bool blind) {
  data list(data::type::list);
  std::size_t count = 0;
  for (const json& k : kernels) {
    if (!k.is_object() || ++count > most) break;
    data row;
    row.set("share", fmt::format("{:.1f}", 100 * number(k, "share")));
    row.set("ms", fmt::format("{:.4f}", number(k, "ms")));
    row.set("count", blind ? std::string("?") : fmt::format("{:.0f}", number(k, "count")));
    row.set("name", one_line(text(k, "name"), 120));
    if (k.contains("line") && k["line"].is_number_integer()) row.set("line", std::to_string(k["line"].get<int>()));
    if (!text(k, "op").empty()) row.set("op", one_line(text(k, "op"), 60));
    list << row;
  }
  return list;
}

void set_failure(data& out, const EarlierSample& sample, bool blind) {
  const json& v = sample.verdict;
  if (text(v, "stage").empty()) return;
  data failure;
  const std::string block = text(v, "block");
  failure.set("stage", text(v, "stage"));
  const std::string reason = one_line(text(v, "reason"), 800);
  failure.set("reason", blind ? without_numbers(reason) : reason);
  if (v.contains("line") && v["line"].is_number_integer()) {
    const int line = v["line"].get<int>();
    const std::string source = one_line(line_of(block == "cuda" ? sample.cuda : sample.python, line), 200);
    failure.set("line", std::to_string(line));
    failure.set("block", block);
    if (!source.empty()) failure.set("source_line", source);
  }
  out.set("failure", failure);
}

void set_times(data& out, const json& v) {
  const std::string mine = mean_median(child(v, "candidate"));
  if (mine.empty()) return;
  const json& baselines = child(v, "baselines");
  out.set("has_times", true);
  out.set("mine", mine);
  out.set("eager", mean_median(child(baselines, "eager")));
  out.set("speedup", speedup(child(baselines, "eager")));
  if (auto s = mean_median(child(baselines, "graphed_eager")); !s.empty()) out.set("graphed", s);
  if (auto s = mean_median(child(baselines, "null_plan")); !s.empty()) out.set("null_plan", s);
  if (auto s = speedup(child(baselines, "null_plan")); !s.empty()) out.set("null_speedup", s);
}

void set_kernels(data& out, const json& v) {
  const json& kernels = child(child(v, "compile"), "kernels");
  data list(data::type::list);
  std::size_t count = 0;
  for (const auto& [name, facts] : kernels.items()) {
    if (++count > kMostKernels) break;
    data row;
    const double spills = number(facts, "spill_store_bytes") + number(facts, "spill_load_bytes");
    row.set("name", one_line(name, 120));
    row.set("registers", fmt::format("{:.0f}", number(facts, "registers")));
    row.set("static_shared_bytes", fmt::format("{:.0f}", number(facts, "static_shared_bytes")));
    if (spills > 0) row.set("spills", fmt::format("{:.0f}", spills));
    list << row;
  }
  if (kernels.empty()) return;
  out.set("has_kernels", true);
  out.set("kernels", list);
}

}  // namespace

data feedback_data(const EarlierSample& sample, bool blind, FeedbackDetail detail) {
  const json& v = sample.verdict;
  data out;
  out.set("number", std::to_string(sample.number));
  out.set("headline", headline(v));
  set_failure(out, sample, blind);
  if (const std::string errors = compile_errors(sample); !errors.empty()) {
    out.set("has_compile_errors", true);
    out.set("compile_errors", errors);
  }
  data visible(data::type::list);
  std::size_t draws = 0;
  for (const json& check : array_in(v, "visible")) {
    if (++draws > kMostDraws) break;
    data row;
    row.set("seed", fmt::format("{:.0f}", number(check, "seed")));
    row.set("calls", fmt::format("{:.0f}", number(check, "calls")));
    row.set("line", comparison_line(check, blind));
    visible << row;
  }
  if (!array_in(v, "visible").empty()) {
    out.set("has_visible", true);
    out.set("visible", visible);
  }
  set_times(out, v);
  if (detail.profile) {
    set_kernels(out, v);
    const json& profile = child(v, "profile");
    if (const json& plan = child(child(profile, "plan"), "kernels"); plan.is_array() && !plan.empty()) {
      out.set("has_profile", true);
      out.set("profile", rows(plan, kProfileRows, blind));
    }
    if (const json& eager = child(child(profile, "eager"), "kernels"); eager.is_array() && !eager.empty()) {
      out.set("has_eager_profile", true);
      out.set("eager_profile", rows(eager, kEagerRows, blind));
    }
  }
  if (detail.code && !(sample.cuda.empty() && sample.python.empty())) {
    out.set("has_code", true);
    out.set("cuda", sample.cuda);
    out.set("python", sample.python);
  } else if (!detail.code) {
    out.set("note", "its code is left out here for length");
  }
  return out;
}

}  // namespace kagent
