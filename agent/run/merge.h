// Copies of one run, brought together: what Slurm's shards or machines without a common disk wrote.
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/run/run_directory.h"

namespace kagent::run {

struct MergedLog {
  std::string name;  // a task's id, or "audit.jsonl"
  std::string from;  // the copy that it was taken from
  std::size_t events = 0;
  std::size_t events_before = 0;
};

struct MergeReport {
  std::vector<MergedLog> logs;  // those that grew, in the manifest's order
  int blobs = 0;                // written now; those that were there stay
};

// For each task, and for the audit, the longest log wins if all others are beginnings of it; its blobs come with it.
// The copies are only read, and may be written meanwhile: a beginning of a log is a log. Again: nothing more happens.
//
// Everything is checked before anything is written: that all are copies of one run (the same manifest), that each log
// is a whole chain, that no two went different ways (kUsage names the task, the line and both), and that each blob is
// there. Then, log by log under its lease, the blobs and the log are written aside and renamed; an error there (kBusy,
// kIo) leaves every log either as it was or whole, and the same command goes on.
Result<MergeReport> merge(const RunDirectory& into, const std::vector<RunDirectory>& copies);

}  // namespace kagent::run
