// Answers from a recorded run: no network, no key; the identity of each reply is the recorded one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/llm/provider.h"

namespace kagent::llm {

// What replay needs of a run directory; agent/run implements it.
class RecordedReplies {
 public:
  virtual ~RecordedReplies() = default;
  // The reply to sample `sample` (from 1) of `task` as it was recorded; nothing if the record has none.
  // Errors: kIo, kParse (the record is damaged).
  virtual Result<std::optional<Reply>> reply(std::string_view task, int sample) = 0;
};

// `run` is for messages: "replay:runs/demo".
std::unique_ptr<Provider> replay_provider(std::string run, std::unique_ptr<RecordedReplies> replies);

}  // namespace kagent::llm
