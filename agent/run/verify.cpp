#include "agent/run/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "agent/base/json_text.h"
#include "agent/base/sha256.h"
#include "agent/run/event.h"
#include "agent/run/verify_audit.h"

namespace kagent::run {
namespace {

namespace fs = std::filesystem;

// The order of one task's steps. A kill repeats steps, so requests and judge events may come several times; what may
// not is a second answer or verdict, or a step that skips the one before.
class Order {
 public:
  // `in_turn`: a sample is answered only after the one before it.
  Order(std::string task_id, bool in_turn) : task_id_(std::move(task_id)), in_turn_(in_turn) {}

  // What is wrong with the next event, or nothing.
  std::string next(const nlohmann::json& event) {
    const bool first = std::exchange(first_, false);
    if (ended_) return "an event after the end";
    const std::string kind = text_or(event, "kind", "");
    if (is_of_audit(kind)) return fmt::format("{} belongs into audit.jsonl", kind);
    if (first != (kind == "start")) return "a log begins with its only start event";
    if (kind == "start" && text_or(event, "task", "") != task_id_)
      return fmt::format("the log is of another task than {}", task_id_);
    if (kind == "end") ended_ = true;
    return next_of_sample(kind, integer_or(event, "sample", 0), event);
  }

  [[nodiscard]] bool ended() const { return ended_; }

 private:
  std::string next_of_sample(const std::string& kind, std::int64_t sample, const nlohmann::json& event) {
    if (kind == "request" && replied_.count(sample) > 0)
      return fmt::format("sample {} is asked again after its reply", sample);
    if (kind == "reply" && !replied_.insert(sample).second) return fmt::format("sample {} has two replies", sample);
    if (in_turn_ && kind == "reply" && sample > 1 && replied_.count(sample - 1) == 0)
      return fmt::format("sample {} has a reply, sample {} has none", sample, sample - 1);
    if (kind == "judge" && replied_.count(sample) == 0)
      return fmt::format("sample {} is judged before its reply", sample);
    if (kind == "judge" && judged_.count(sample) > 0)
      return fmt::format("sample {} is judged again after its verdict", sample);
    if (kind == "judge") begun_.insert(sample);
    if (kind != "verdict") return "";
    if (replied_.count(sample) == 0) return fmt::format("sample {} has a verdict but no reply", sample);
    // An answer without blocks is rejected before judging begins.
    if (begun_.count(sample) == 0 && text_or(event["verdict"], "stage", "") != "answer")
      return fmt::format("sample {} has a verdict but no judge event before it", sample);
    return judged_.insert(sample).second ? "" : fmt::format("sample {} has two verdicts", sample);
  }

  std::string task_id_;
  bool in_turn_;
  bool first_ = true;
  bool ended_ = false;
  std::set<std::int64_t> replied_;
  std::set<std::int64_t> begun_;
  std::set<std::int64_t> judged_;
};

// Whether samples wait for each other: in every run but one whose samples know nothing of each other.
bool samples_in_turn(const RunDirectory& run) {
  const nlohmann::json& identity = run.manifest()["identity"];
  return text_or(identity, "protocol", "") != "independent" || flag_or(identity, "stop_when_faster", false);
}

// Adds one task to the report; returns the hash of its last line.
std::string verify_task(const RunDirectory& run, const std::string& id, VerifyReport& report,
                        std::set<std::string>& blobs) {
  const std::string where = "tasks/" + folder_of_task(id) + "/events.jsonl";
  Result<Chain> read = run.read_task(id);
  if (!read) {
    report.problems.push_back(read.error().code == Code::kNotFound ? where + " is missing: the task was never begun"
                                                                   : read.error().message);
    return "unreadable";
  }
  const Chain& chain = read.value();
  report.tasks += 1;
  report.events += static_cast<int>(chain.events.size());
  Order order(id, samples_in_turn(run));
  for (std::size_t i = 0; i < chain.events.size(); ++i) {
    if (const std::string problem = order.next(chain.events[i]); !problem.empty())
      report.problems.push_back(fmt::format("{}: line {}: {}", where, i + 1, problem));
    blobs.merge(blobs_of(chain.events[i]));
  }
  if (!chain.torn.empty() || chain.newline_missing) {
    report.problems.push_back(fmt::format("{}: line {}: ends in a partial line; resume the run to repair it", where,
                                          chain.events.size() + (chain.newline_missing ? 0 : 1)));
  }
  if (!order.ended()) {
    report.problems.push_back(where +
                              ": has no end event: the task is not finished; the command that began it goes on");
    report.unfinished += 1;
  }
  return chain.head;
}

}  // namespace

Result<VerifyReport> verify(const RunDirectory& run, const std::optional<std::string>& head) {
  VerifyReport report;
  std::vector<std::string> ids;
  for (const nlohmann::json& id : run.manifest()["identity"]["tasks"]) ids.push_back(id.get<std::string>());
  std::sort(ids.begin(), ids.end());

  std::string heads = run.manifest_sha256() + "\n";
  std::set<std::string> folders;
  std::set<std::string> blobs;
  for (const std::string& id : ids) {
    folders.insert(folder_of_task(id));
    heads += id + " " + verify_task(run, id, report, blobs) + "\n";
  }
  report.head = sha256_hex(heads);
  verify_audit(run, report, blobs);

  std::error_code failed;
  for (fs::directory_iterator entry(run.folder() + "/tasks", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (const std::string name = entry->path().filename().string(); folders.count(name) == 0)
      report.problems.push_back("tasks/" + name + ": the manifest does not list this task");
  }
  for (const std::string& blob : blobs) {
    report.blobs += 1;
    if (Result<std::string> bytes = run.blobs().get(blob); !bytes) report.problems.push_back(bytes.error().message);
  }
  if (head && *head != report.head) {
    report.problems.push_back(fmt::format(
        "the head is {}, not {}: the run was cut, rewritten or continued since that hash", report.head, *head));
  }
  return report;
}

}  // namespace kagent::run
