#include "agent/judge/compile_ahead.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "agent/base/file.h"
#include "agent/judge/gpus.h"

namespace kagent {
namespace {

namespace fs = std::filesystem;

class CompileAhead : public ::testing::Test {
 protected:
  ~CompileAhead() override { fs::remove_all(folder_); }

  // `reply`: Python, what the compiler answers the request r.
  std::optional<Verdict> judged(const std::string& reply) {
    EXPECT_TRUE(write_file(folder_ + "/compile",
                           "#!/usr/bin/env python3\nimport json, sys\nfor line in sys.stdin:\n"
                           "    r = json.loads(line)\n    print(json.dumps(" +
                               reply + "), flush=True)\n")
                    .ok());
    fs::permissions(folder_ + "/compile", fs::perms::owner_all);
    Installation installation;
    installation.root = folder_;
    installation.compiler = folder_ + "/compile";
    JudgeSettings settings;
    settings.crew.backend = "none";
    return refused_by_compiler(installation, settings, "3/4", {"cuda text", "python"}, artifacts_);
  }

  std::string folder_ = (fs::temp_directory_path() / ("kagent-ahead-" + std::to_string(::getpid()))).string();
  Artifacts artifacts_;
};

TEST_F(CompileAhead, AnErrorOfTheAnswersIsAWholeVerdict) {
  const auto verdict = judged(
      "{'ok': r['cmd'] == 'hello', 'nvrtc': '13.0', 'log': r.get('source', ''), 'error': {'stage': 'compile', 'kind': "
      "'compile_error', 'message': r.get('arch'), 'line': 7}}");
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->task, "3/4");
  EXPECT_EQ(verdict->outcome, Outcome::kRejected);
  EXPECT_EQ(verdict->failure->stage, "compile");
  EXPECT_EQ(verdict->failure->block, "cuda");
  EXPECT_EQ(verdict->failure->reason, "sm_90a");
  EXPECT_EQ(verdict->failure->line, 7);
  EXPECT_EQ(verdict->rules.size(), all_rules().size());
  EXPECT_EQ(artifacts_.at("compile.log"), "cuda text");
}

TEST_F(CompileAhead, WhatCompilesGoesOn) {
  EXPECT_FALSE(judged("{'ok': True}").has_value());
  EXPECT_TRUE(artifacts_.empty());
}

TEST_F(CompileAhead, ACompilerThatFailsIsForJudgingToName) {
  EXPECT_FALSE(judged("{'ok': r['cmd'] == 'hello', 'error': {'stage': 'internal', 'message': 'disk'}}").has_value());
  EXPECT_FALSE(judged("sys.exit(3)").has_value());
}

TEST(ArchName, OfHopperHasWhatOnlyHopperHas) {
  EXPECT_EQ(arch_name(9, 0), "sm_90a");
  EXPECT_EQ(arch_name(8, 6), "sm_86");
}

}  // namespace
}  // namespace kagent
