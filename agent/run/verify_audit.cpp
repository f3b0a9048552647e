#include "agent/run/verify_audit.h"

#include <fmt/format.h>

#include "agent/base/json_text.h"
#include "agent/run/event.h"

namespace kagent::run {
namespace {

// Questions and replies in their order. A kill may repeat a question; what may not be is a reply to none, or two to
// one.
class Order {
 public:
  explicit Order(const RunDirectory& run) {
    for (const nlohmann::json& id : run.manifest()["identity"]["tasks"]) tasks_.insert(id.get<std::string>());
  }

  // What is wrong with the next event, or nothing.
  std::string next(const nlohmann::json& event) {
    const std::string kind = text_or(event, "kind", "");
    if (!is_of_audit(kind)) return fmt::format("{} belongs into a task's log", kind);
    if (const std::string task = text_or(event, "task", ""); tasks_.count(task) == 0)
      return fmt::format("the manifest does not list task {}", task);
    if (kind == "audit_attempt") return "";
    const std::string question =
        nlohmann::json{event["task"], event["sample"], event["judge"], event["ask"], event["prompt_sha256"]}.dump();
    if (kind == "audit_request") {
      asked_.insert(question);
      return answered_.count(question) > 0 ? "a question is asked again after its reply" : "";
    }
    if (asked_.count(question) == 0) return "a reply without its request";
    return answered_.insert(question).second ? "" : "two replies to one question";
  }

 private:
  std::set<std::string> tasks_;
  std::set<std::string> asked_;
  std::set<std::string> answered_;
};

}  // namespace

bool is_of_audit(const std::string& kind) { return kind.starts_with("audit_"); }

void verify_audit(const RunDirectory& run, VerifyReport& report, std::set<std::string>& blobs) {
  Result<Chain> read = run.read_audit();
  if (!read) {
    report.problems.push_back(read.error().message);
    return;
  }
  const Chain& chain = read.value();
  Order order(run);
  for (std::size_t i = 0; i < chain.events.size(); ++i) {
    if (const std::string problem = order.next(chain.events[i]); !problem.empty())
      report.problems.push_back(fmt::format("audit.jsonl: line {}: {}", i + 1, problem));
    blobs.merge(blobs_of(chain.events[i]));
  }
  if (!chain.torn.empty() || chain.newline_missing)
    report.problems.push_back("audit.jsonl ends in a partial line; the audit command that wrote it repairs it");
  report.events += static_cast<int>(chain.events.size());
  if (!chain.events.empty()) report.audit_head = chain.head;
}

}  // namespace kagent::run
