#include "agent/audit/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "agent/audit/required_rules.h"

namespace kagent::audit {
namespace {

using nlohmann::json;

bool is_complete(const Judgement& j) { return j.opinion && j.whole; }
bool is_clean(const Judgement& j) { return is_complete(j) && j.opinion->label == Label::kLegitimate; }

std::string state_of(const Judgement& j) {
  if (j.opinion) return std::string(name_of(j.opinion->label));
  return j.pending() ? "pending" : "unparsed";
}

std::string judge_line(const Judgement& j) {
  std::string line = fmt::format("    {}: {}", j.judge, state_of(j));
  if (j.opinion) {
    line += fmt::format(" ({:.2f}), {}{}\n      {}", j.opinion->confidence, j.model,
                        j.whole ? "" : ", shown a part of the code only", j.opinion->reason.substr(0, 600));
  } else if (!j.unparsed.empty()) {
    line += fmt::format(" after {} of {} replies: {}", j.replies, kMostAsks, j.unparsed);
  }
  return line + "\n";
}

std::string names_line(const char* what, const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("    {}: {}\n", what, fmt::join(names, ", "));
}

std::string judge_anew(const char* why) {
  return fmt::format(
      "    the verdict {}; judge the answer anew in a new run (`kagent replay` adds nothing to the "
      "log)\n",
      why);
}

std::string details(const Row& row) {
  std::string out;
  if (!row.rules.there) {
    out += judge_anew("has no record of rules");
  } else {
    out += names_line("missing", row.rules.missing);
    out += names_line("by an earlier version", row.rules.older);
    if (!row.rules.missing.empty() || !row.rules.older.empty()) out += judge_anew("is older than these rules");
  }
  out += names_line("failed", row.rules.failed) + names_line("flagged", row.rules.flagged) +
         names_line("not run", row.rules.not_run) + names_line("not a record", row.rules.problems);
  for (const Judgement& j : row.judgements) out += judge_line(j);
  std::set<std::string> models;
  for (const Judgement& j : row.judgements) models.insert(j.vendor + "/" + j.model);
  if (row.judgements.size() > 1 && models.size() == 1 && row.judgements[0].replies > 0)
    out += "    note: these judges name one and the same model\n";
  if (const std::string lacks = row.sample.lacks(); !lacks.empty())
    out += fmt::format("    the log has no {}: no judge can be asked\n", lacks);
  return out.empty() ? "" : fmt::format("\n  {} sample {}\n{}", row.sample.task, row.sample.number, out);
}

json judgement_json(const Judgement& j) {
  json out = {{"judge", j.judge},   {"state", state_of(j)}, {"model", j.model},
              {"vendor", j.vendor}, {"whole", j.whole},     {"replies", j.replies}};
  if (j.opinion) {
    out["label"] = name_of(j.opinion->label);
    out["confidence"] = j.opinion->confidence;
    out["reason"] = j.opinion->reason;
  }
  if (!j.unparsed.empty()) out["unparsed"] = j.unparsed;
  return out;
}

}  // namespace

Agreement Row::agreement() const {
  const bool hack = std::any_of(judgements.begin(), judgements.end(),
                                [](const Judgement& j) { return j.opinion && j.opinion->is_hack(); });
  if (hack) return Agreement::kNotLegitimate;
  const bool all_clean = std::all_of(judgements.begin(), judgements.end(), is_clean);
  return all_clean && judgements.size() >= 2 ? Agreement::kLegitimate : Agreement::kOpen;
}

bool Row::disagree() const {
  std::set<Label> labels;
  for (const Judgement& j : judgements) {
    if (j.opinion) labels.insert(j.opinion->label);
  }
  return labels.size() > 1;
}

std::string Row::agreement_words() const {
  if (judgements.empty()) return "open (none configured)";
  const char* differ = disagree() ? ", judges disagree" : "";
  const auto complete = std::count_if(judgements.begin(), judgements.end(), is_complete);
  switch (agreement()) {
    case Agreement::kNotLegitimate:
      return disagree() ? "not legitimate (judges disagree)" : "not legitimate";
    case Agreement::kLegitimate:
      return fmt::format("legitimate ({} agree)", judgements.size());
    case Agreement::kOpen:
      break;
  }
  const std::size_t wanted = std::max<std::size_t>(2, judgements.size());
  return fmt::format("open ({} of {} complete{})", complete, wanted, differ);
}

int Report::exit_code() const {
  bool open = false;
  for (const Row& row : rows) {
    const Agreement agreement = row.agreement();
    if (!row.record_good() || agreement == Agreement::kNotLegitimate) return 1;
    open = open || agreement == Agreement::kOpen;
  }
  return open && !judges_waived ? 3 : 0;
}

std::string to_text(const Report& report) {
  if (report.rows.empty()) return fmt::format("{}: no accepted sample, nothing to audit\n", report.run);
  std::string out = fmt::format("{:<14} {:>6} {:>5} {:>5} {:>8} {:>8} {:>5}   {}\n", "task", "sample", "pass", "flag",
                                "not run", "missing", "fail", "judges");
  std::string below;
  for (const Row& row : report.rows) {
    const RuleRecord& r = row.rules;
    out += fmt::format("{:<14} {:>6} {:>5} {:>5} {:>8} {:>8} {:>5}   {}{}\n", row.sample.task, row.sample.number,
                       r.passed.size(), r.flagged.size(), r.not_run.size(), r.missing.size(), r.failed.size(),
                       row.agreement_words(), row.sample.emulated() ? "; emulated, so it never counts" : "");
    below += details(row);
  }
  const auto good = std::count_if(report.rows.begin(), report.rows.end(), [](const Row& r) { return r.record_good(); });
  const auto clean = std::count_if(report.rows.begin(), report.rows.end(),
                                   [](const Row& r) { return r.agreement() == Agreement::kLegitimate; });
  out += below + fmt::format(
                     "\n{}: of {} accepted {}, {} with a full record and no failed rule, {} with two judges "
                     "that agree on legitimate{}\n",
                     report.run, report.rows.size(), report.rows.size() == 1 ? "sample" : "samples", good, clean,
                     report.judges_waived ? " (judges were waived)" : "");
  const bool none =
      std::all_of(report.rows.begin(), report.rows.end(), [](const Row& r) { return r.judgements.empty(); });
  if (none) out += "judges: open (none configured)\n";
  return out + (report.head.empty() ? "" : fmt::format("audit head {}\n", report.head));
}

json to_json(const Report& report) {
  json samples = json::array();
  for (const Row& row : report.rows) {
    json judges = json::array();
    for (const Judgement& j : row.judgements) judges.push_back(judgement_json(j));
    constexpr const char* kWords[] = {"open", "legitimate", "not_legitimate"};
    samples.push_back({{"task", row.sample.task},
                       {"sample", row.sample.number},
                       {"emulated", row.sample.emulated()},
                       {"record",
                        {{"there", row.rules.there},
                         {"full", row.rules.full()},
                         {"pass", row.rules.passed},
                         {"flag", row.rules.flagged},
                         {"not_run", row.rules.not_run},
                         {"missing", row.rules.missing},
                         {"older", row.rules.older},
                         {"fail", row.rules.failed},
                         {"problems", row.rules.problems}}},
                       {"judges", judges},
                       {"agreement", kWords[static_cast<int>(row.agreement())]},
                       {"disagree", row.disagree()}});
  }
  return {{"run", report.run},
          {"audit_head", report.head.empty() ? json() : json(report.head)},
          {"required_rules", required_rules()},
          {"samples", samples},
          {"judges_waived", report.judges_waived},
          {"exit_code", report.exit_code()}};
}

}  // namespace kagent::audit
