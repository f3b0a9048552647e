#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "agent/base/printable.h"
#include "agent/score/forms.h"
#include "agent/score/words.h"

namespace kagent::score {
namespace {

using Row = std::vector<std::string>;

// A spreadsheet computes a cell that begins with one of these.
bool looks_like_formula(const std::string& cell) {
  return !cell.empty() && std::string_view("=+-@").find(cell.front()) != std::string_view::npos;
}

std::string cell_text(const std::string& raw) {
  std::string cell = printable(raw);
  cell.erase(0, std::min(cell.find_first_not_of(' '), cell.size()));
  if (looks_like_formula(cell)) cell.insert(0, 1, '\'');
  if (cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string line_of(const Row& row) {
  std::string line;
  for (const std::string& cell : row) line += (line.empty() ? "" : ",") + cell_text(cell);
  return line + "\n";
}

template <typename T>
std::string number(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

const char* word(const std::optional<bool>& value) { return !value ? "" : *value ? "true" : "false"; }

Row context_cells(const Context& context) {
  const Asked& asked = context.asked;
  std::string returned;
  for (const auto& [name, replies] : context.models) returned += (returned.empty() ? "" : "; ") + name;
  return {
      asked.run,    asked.model,     returned, asked.protocol, std::to_string(asked.samples), asked.prompt_set_sha256,
      asked.kagent, "ratio of means"};
}

Row baseline_cells(const Baseline* b) {
  if (b == nullptr) return Row(7);
  const auto& s = b->speedup;
  return {number(b->mean_ms),      number(b->median_ms),     s ? fmt::format("{}", s->ratio) : "",
          s ? number(s->low) : "", s ? number(s->high) : "", number(b->peak_bytes),
          word(b->passes_official)};
}

double judge_seconds(const Sample& sample) {
  double sum = 0;
  for (const auto& [name, seconds] : sample.phases_s) sum += seconds;
  return sum;
}

Row sample_cells(const Sample& s, const std::vector<std::string>& baselines) {
  Row row = {std::to_string(s.number),
             to_string(s.state),
             word(s.counts),
             s.faster ? "true" : "false",
             to_string(s.tier),
             to_string(s.track),
             s.stage,
             s.kind,
             s.environment.backend,
             s.environment.gpu,
             s.environment.driver,
             s.environment.torch,
             s.model,
             number(s.mean_ms),
             number(s.median_ms),
             number(s.peak_bytes),
             number(s.custom_share),
             number(s.launches),
             number(s.tokens.input),
             number(s.tokens.output),
             number(s.tokens.reasoning),
             number(s.tokens.cached),
             number(s.cost_usd),
             s.phases_s.empty() ? "" : fmt::format("{}", judge_seconds(s))};
  for (const std::string& name : baselines) {
    const Row more = baseline_cells(s.baseline(name));
    row.insert(row.end(), more.begin(), more.end());
  }
  return row;
}

}  // namespace

std::string to_csv(const Run& run, const Scores& scores) {
  std::set<std::string> names;
  for (const Task& task : run.tasks) {
    for (const Sample& sample : task.samples) {
      for (const Baseline& baseline : sample.baselines) names.insert(baseline.name);
    }
  }
  std::vector<std::string> baselines(names.begin(), names.end());
  std::sort(baselines.begin(), baselines.end(), baseline_before);
  Row header = {"run",
                "model_asked",
                "models_returned",
                "protocol",
                "samples_planned",
                "prompt_set_sha256",
                "kagent",
                "aggregation",
                "task",
                "sample",
                "state",
                "counts",
                "faster",
                "tier",
                "track",
                "stage",
                "kind",
                "backend",
                "gpu",
                "driver",
                "torch",
                "model",
                "mean_ms",
                "median_ms",
                "peak_bytes",
                "custom_share",
                "launches",
                "input_tokens",
                "output_tokens",
                "reasoning_tokens",
                "cached_tokens",
                "cost_usd",
                "judge_s"};
  for (const std::string& name : baselines) {
    for (const char* what :
         {"mean_ms", "median_ms", "ratio", "ratio_low", "ratio_high", "peak_bytes", "passes_official_check"})
      header.push_back(name + "_" + what);
  }
  std::string csv = line_of(header);
  const Row context = context_cells(scores.context);
  for (const Task& task : run.tasks) {
    const auto add = [&](const Row& cells) {
      Row row = context;
      row.push_back(task.id);
      row.insert(row.end(), cells.begin(), cells.end());
      row.resize(header.size());
      csv += line_of(row);
    };
    for (const Sample& sample : task.samples) add(sample_cells(sample, baselines));
    if (task.samples.empty()) add({"", task.logged ? "not asked" : "not begun"});
  }
  return csv;
}

}  // namespace kagent::score
