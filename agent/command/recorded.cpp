#include "agent/command/recorded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "agent/command/print.h"
#include "agent/command/run_names.h"
#include "agent/run/run_directory.h"

namespace kagent {
namespace {

std::optional<std::int64_t> count(const nlohmann::json& usage, const char* key) {
  const auto it = usage.find(key);
  return it != usage.end() && it->is_number_integer() ? std::optional(it->get<std::int64_t>()) : std::nullopt;
}

class RecordedRun : public llm::RecordedReplies {
 public:
  explicit RecordedRun(run::RunDirectory run) : run_(std::move(run)) {}

  Result<std::optional<llm::Reply>> reply(std::string_view task, int sample) override {
    auto recorded = run::recorded_reply(run_, std::string(task), sample);
    if (!recorded) return recorded.error();
    if (!recorded.value()) return std::optional<llm::Reply>();
    const nlohmann::json& event = recorded.value()->event;
    const nlohmann::json usage = event.value("usage", nlohmann::json::object());
    llm::Reply reply;
    reply.text = recorded.value()->text;
    reply.model = event.value("model", "");
    reply.provider = event.value("provider", "");
    reply.vendor = event.value("vendor", "");
    reply.finish_reason = event.value("finish_reason", "");
    reply.truncated = event.value("truncated", false);
    reply.refused = event.value("refused", false);
    reply.request_id = event.value("request_id", "");
    reply.usage = {count(usage, "input_tokens"), count(usage, "output_tokens"), count(usage, "reasoning_tokens"),
                   count(usage, "cached_tokens")};
    reply.raw = event.value("response", nlohmann::json::object()).dump();
    return std::optional<llm::Reply>(reply);
  }

 private:
  run::RunDirectory run_;
};

}  // namespace

Result<std::unique_ptr<llm::RecordedReplies>> open_recorded_run(const std::string& text) {
  auto run = open_run_folder(run_folder_to_read(text));
  if (!run) return run.error();
  return std::unique_ptr<llm::RecordedReplies>(std::make_unique<RecordedRun>(run.value()));
}

Status holds_reply(const std::string& model, const std::string& task_id) {
  constexpr std::string_view kReplay = "replay:";
  if (!model.starts_with(kReplay)) return Ok{};
  const auto run = open_run_folder(run_folder_to_read(model.substr(kReplay.size())));
  if (!run) return run.error();
  const auto reply = run::recorded_reply(run.value(), task_id, 1);
  if (!reply) return reply.error();
  if (reply.value()) return Ok{};
  const std::vector<std::string> tasks = run.value().tasks();
  return Error{
      Code::kUsage,
      fmt::format("--model {}: this run holds no reply for {}; its tasks: {}", name_text(model), name_text(task_id),
                  tasks.empty() ? "none" : printable(fmt::format("{}", fmt::join(tasks, ", "))))};
}

}  // namespace kagent
