// Checks a run directory against itself, and against a published head hash.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/run/run_directory.h"

namespace kagent::run {

struct VerifyReport {
  std::string head;                   // publish this: SHA-256 over the manifest's hash and every task's last line
  std::vector<std::string> problems;  // each names a file; empty: the run is whole
  int tasks = 0;
  int events = 0;
  int blobs = 0;
};

// Finds by itself: edited, removed, inserted or reordered events, missing or changed blobs, samples out of order, tasks
// of the manifest without an end (reported as open, not as damage), stray task folders. Against `head`: truncation and
// rewriting as well. Errors: the directory cannot be read at all.
Result<VerifyReport> verify(const RunDirectory& run, const std::optional<std::string>& head);

}  // namespace kagent::run
