// A run directory as the source of the replay provider.
#pragma once

#include <memory>
#include <string>

#include "agent/base/result.h"
#include "agent/llm/replay_provider.h"

namespace kagent {

Result<std::unique_ptr<llm::RecordedReplies>> open_recorded_run(const std::string& folder);

}  // namespace kagent
