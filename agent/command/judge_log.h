// `kagent judge --run DIR`: a run of one sample whose answer came from a file.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "agent/base/result.h"
#include "agent/judge/check.h"
#include "agent/judge/verdict.h"
#include "agent/run/run_directory.h"
#include "agent/task/task.h"

namespace kagent {

// Does nothing until opened.
class JudgeLog {
 public:
  // Errors: kUsage (the folder holds another run, or this one has its verdict already); kIo; kBusy.
  Status open(const std::string& folder, const Task& task, const std::string& raw_answer);
  Status before(const Seeds& seeds);
  Status after(const nlohmann::json& verdict, const Artifacts& artifacts);

 private:
  std::unique_ptr<run::TaskLog> log_;
};

}  // namespace kagent
