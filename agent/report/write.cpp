// The files of a report.

#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/base/printable.h"
#include "agent/report/report.h"
#include "agent/score/forms.h"

namespace kagent::report {

using nlohmann::json;

json to_json(const Gathered& all) {
  json out = score::to_json(all.run, all.scores);
  for (std::size_t t = 0; t < all.tasks.size(); ++t) {
    json& task = out["tasks"][t];
    if (all.run.tasks[t].damage) task["damage"] = all.run.tasks[t].damage->message;
    for (std::size_t i = 0; i < all.tasks[t].samples.size(); ++i) {
      const SamplePage& page = all.tasks[t].samples[i];
      json& sample = task["samples"][i];
      sample["outcome"] = text_or(page.verdict, "outcome", "");
      sample["reason"] = text_or(page.verdict, "reason", "");
      sample["rules"] = array_in(page.verdict, "rules");
      sample["phases"] = array_in(page.verdict, "phases");
      sample["prompt_sha256"] = page.prompt_sha256;
      sample["answer_sha256"] = text_or(page.reply, "answer_sha256", "");
      sample["artifacts"] = page.artifacts;
      json problems = json::array();
      for (const Stored* one : {&page.prompt, &page.answer, &page.plan, &page.compile_log}) {
        if (!one->problem.empty()) problems.push_back(one->problem);
      }
      sample["problems"] = problems;
    }
  }
  return out;
}

Status write(const Gathered& all, const std::string& folder) {
  const std::pair<const char*, std::string> files[] = {
      {"report.html", to_page(all)},
      {"report.csv", score::to_csv(all.run, all.scores)},
      {"report.json", pretty(to_json(all)) + "\n"},
      {"report.md", printable_lines(score::to_markdown(all.run, all.scores))},
  };
  for (const auto& [name, bytes] : files) {
    if (Status written = write_file(folder + "/" + name, bytes); !written) return written;
  }
  return Ok{};
}

}  // namespace kagent::report
