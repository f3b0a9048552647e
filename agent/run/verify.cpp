#include "agent/run/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "agent/base/sha256.h"

namespace kagent::run {
namespace {

namespace fs = std::filesystem;
const std::set<std::string> kKinds = {"start", "request", "attempt", "reply", "judge", "verdict", "end", "resume"};

// Every value of a key that ends in "sha256", at any depth, and every value of "artifacts", is a blob.
void collect_blobs(const nlohmann::json& value, const std::string& key, std::set<std::string>& blobs) {
  if (value.is_object()) {
    for (const auto& [name, child] : value.items()) {
      if (name == "artifacts" && child.is_object()) {
        for (const auto& [file, hash] : child.items()) {
          if (hash.is_string()) blobs.insert(hash.get<std::string>());
        }
      } else {
        collect_blobs(child, name, blobs);
      }
    }
  } else if (value.is_string() && (key == "prompt_sha256" || key == "answer_sha256" || key == "task_sha256")) {
    blobs.insert(value.get<std::string>());
  }
}

void check_order(const std::vector<nlohmann::json>& events, const std::string& where,
                 std::vector<std::string>& problems) {
  std::set<int> replied;
  std::set<int> judged;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::string kind = events[i].value("kind", "");
    const int sample = events[i].value("sample", 0);
    const auto complain = [&](const std::string& what) {
      problems.push_back(fmt::format("{} line {}: {}", where, i + 1, what));
    };
    if (kKinds.count(kind) == 0) complain("unknown kind " + kind);
    if ((i == 0) != (kind == "start")) complain("a log begins with its only start");
    if (kind == "reply" && !replied.insert(sample).second) complain(fmt::format("sample {} has two replies", sample));
    if (kind == "verdict" && replied.count(sample) == 0)
      complain(fmt::format("sample {} has a verdict but no reply", sample));
    if (kind == "verdict" && !judged.insert(sample).second) complain(fmt::format("sample {} has two verdicts", sample));
    if (kind == "end" && i + 1 != events.size()) complain("events after the end");
  }
}

}  // namespace

Result<VerifyReport> verify(const RunDirectory& run, const std::optional<std::string>& head) {
  VerifyReport report;
  std::string heads = run.manifest_sha256() + "\n";
  std::set<std::string> known;
  std::set<std::string> blobs;
  std::vector<std::string> ids;
  for (const auto& id : run.manifest()["identity"].value("tasks", nlohmann::json::array())) {
    if (id.is_string()) ids.push_back(id.get<std::string>());
  }
  std::sort(ids.begin(), ids.end());
  for (const std::string& id : ids) {
    known.insert(folder_of_task(id));
    const std::string where = "tasks/" + folder_of_task(id) + "/events.jsonl";
    Result<Chain> chain = run.read_task(id);
    if (!chain) {
      report.problems.push_back(where + ": " + chain.error().message);
      heads += id + " unreadable\n";
      continue;
    }
    report.tasks += 1;
    report.events += static_cast<int>(chain.value().events.size());
    heads += id + " " + chain.value().head + "\n";
    if (!chain.value().torn.empty())
      report.problems.push_back(where + ": ends in a partial line; resume the run to repair it");
    check_order(chain.value().events, where, report.problems);
    if (!state_of(chain.value().events).ended)
      report.problems.push_back(where + ": has no end: the run is not finished");
    for (const auto& event : chain.value().events) collect_blobs(event, "", blobs);
  }
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(run.folder() + "/tasks", failed)) {
    if (known.count(entry.path().filename().string()) == 0) {
      report.problems.push_back("tasks/" + entry.path().filename().string() + ": the manifest does not list this task");
    }
  }
  for (const std::string& blob : blobs) {
    report.blobs += 1;
    if (Result<std::string> bytes = run.blobs().get(blob); !bytes) report.problems.push_back(bytes.error().message);
  }
  report.head = sha256_hex(heads);
  if (head && *head != report.head) {
    report.problems.push_back(fmt::format(
        "the head is {}, not {}: the run was cut, rewritten or continued since that hash", report.head, *head));
  }
  return report;
}

}  // namespace kagent::run
