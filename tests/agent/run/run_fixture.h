// A run directory of one task in a temporary folder.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "agent/base/file.h"
#include "agent/run/run_directory.h"

namespace kagent::run {

class RunFixture : public ::testing::Test {
 protected:
  RunFixture() { std::filesystem::remove_all(folder_); }
  ~RunFixture() override { std::filesystem::remove_all(folder_); }

  RunDirectory create() {
    auto run = RunDirectory::create_or_resume(folder_, identity_, {{"machine", "test"}});
    EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error().message);
    return run.value();
  }

  static void append(TaskLog& log, const std::string& kind, const nlohmann::json& body) {
    const Status appended = log.append(kind, body);
    EXPECT_TRUE(appended.ok()) << (appended.ok() ? "" : appended.error().message);
  }

  // One whole sample and an end: 6 events, 4 blobs.
  void fill(const RunDirectory& run) {
    const std::unique_ptr<TaskLog> log = run.open_task("3/4").value();
    const auto blob = [&](const char* text) { return log->blobs().put(text).value(); };
    append(*log, "start", {{"task", "3/4"}, {"task_sha256", blob("the task")}});
    append(*log, "request", {{"sample", 1}, {"prompt_sha256", blob("the prompt")}});
    append(*log, "reply", {{"sample", 1}, {"answer_sha256", blob("the answer")}, {"model", "x"}});
    append(*log, "judge", {{"sample", 1}, {"seeds", {{"visible", {1, 2, 3}}}}});
    append(*log, "verdict",
           {{"sample", 1}, {"verdict", {{"outcome", "accepted"}}}, {"artifacts", {{"plan.json", blob("the plan")}}}});
    append(*log, "end", {{"reason", "all samples used"}});
  }

  [[nodiscard]] std::string log_path() const { return folder_ + "/tasks/3-4/events.jsonl"; }
  [[nodiscard]] std::string log_text() const { return read_file(log_path()).value(); }
  void put_log(std::string_view text) const { ASSERT_TRUE(write_file(log_path(), text).ok()); }

  std::string folder_ =
      (std::filesystem::temp_directory_path() / ("kagent-run-" + std::to_string(::getpid()))).string();
  nlohmann::json identity_ = {{"tasks", {"3/4"}}, {"model", "spool:x"}, {"request", {{"temperature", 0.5}}}};
};

}  // namespace kagent::run
