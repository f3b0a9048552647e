// A run directory as the source of the replay provider.
#pragma once

#include <memory>
#include <string>

#include "agent/base/result.h"
#include "agent/llm/replay_provider.h"

namespace kagent {

// `text`: the run's folder, or its name in runs/.
Result<std::unique_ptr<llm::RecordedReplies>> open_recorded_run(const std::string& text);

// Whether a "replay:RUN" can answer anything on a task; Ok for every other model. Errors: kUsage (it cannot), and what
// opening the run says.
Status holds_reply(const std::string& model, const std::string& task_id);

}  // namespace kagent
