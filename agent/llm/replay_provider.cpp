#include "agent/llm/replay_provider.h"

#include <fmt/format.h>

namespace kagent::llm {
namespace {

class ReplayProvider : public Provider {
 public:
  ReplayProvider(std::string run, std::unique_ptr<RecordedReplies> replies)
      : run_(std::move(run)), replies_(std::move(replies)) {}

  [[nodiscard]] std::string name() const override { return "replay:" + run_; }
  Status check() override { return Ok{}; }  // opening the run was the check

  Result<Answer> complete(const Request& request, Progress& progress) override {
    if (Status valid = valid_request(request); !valid) return valid.error();
    Result<std::optional<Reply>> found = replies_->reply(request.task, request.sample);
    if (!found) return found.error().within("replaying " + run_);
    if (!found.value())
      return Answer(NoMore{fmt::format("{} holds no reply to sample {} of {}", run_, request.sample, request.task)});
    progress.say(fmt::format("sample {} from {}", request.sample, run_));
    return Answer(*std::move(found).value());
  }

 private:
  std::string run_;
  std::unique_ptr<RecordedReplies> replies_;
};

}  // namespace

std::unique_ptr<Provider> replay_provider(std::string run, std::unique_ptr<RecordedReplies> replies) {
  return std::make_unique<ReplayProvider>(std::move(run), std::move(replies));
}

}  // namespace kagent::llm
