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
  std::vector<std::string> problems;  // each names a file and where it can a line; empty: the run is whole and finished
  std::string audit_head;             // of audit.jsonl, which is no part of `head`; empty: there is none
  int unfinished = 0;                 // of the problems, those that only say that a task is not finished yet
  int tasks = 0;                      // of those in the manifest, the ones whose log could be read
  int events = 0;
  int blobs = 0;
};

// Finds by itself: edited, removed, inserted, repeated or reordered events, damaged lines, unknown kinds, missing or
// changed blobs, steps out of order (a verdict without its reply, a second answer to one sample), tasks of the manifest
// without a log or an end, stray task folders; the same of audit.jsonl. Against `head`: truncation and rewriting as
// well.
Result<VerifyReport> verify(const RunDirectory& run, const std::optional<std::string>& head);

}  // namespace kagent::run
