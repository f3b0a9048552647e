// Recorded runs as scores read them.

#include <gtest/gtest.h>

#include <filesystem>

#include "agent/score/read_run.h"
#include "agent/score/scores.h"

namespace kagent::score {
namespace {

score::Run recorded(const std::string& name) {
  auto directory = run::RunDirectory::open(KAGENT_SOURCE_DIR "/runs/" + name);
  EXPECT_TRUE(directory.ok());
  auto run = read_run(directory.value());
  EXPECT_TRUE(run.ok());
  return run.value();
}

TEST(ReadRun, ARecordedRunIsReadWithItsTimes) {
  const score::Run run = recorded("3-50-claude");
  ASSERT_EQ(run.tasks.size(), 1U);
  ASSERT_EQ(run.tasks[0].samples.size(), 2U);
  EXPECT_EQ(run.tasks[0].samples[0].state, State::kRejected);
  const Sample& second = run.tasks[0].samples[1];
  EXPECT_EQ(second.state, State::kAccepted);
  EXPECT_NEAR(second.speedup()->ratio, 2.8127, 1e-4);
  EXPECT_EQ(second.environment.gpu, "NVIDIA H200");
  EXPECT_EQ(against_fastest(second)->name, "graphed_eager");
}

TEST(ReadRun, AWaitingSampleIsOne) {
  const Scores scores = scores_of(recorded("3-1-claude"));
  EXPECT_EQ(scores.samples.waiting, 1);
  EXPECT_EQ(scores.ended, 0);
}

TEST(ReadRun, ATaskWithoutALogIsThere) {
  const std::string folder = ::testing::TempDir() + "kagent-score-unbegun";
  std::filesystem::remove_all(folder);
  auto directory = run::RunDirectory::create_or_resume(folder, {{"tasks", {"3/1", "3/2"}}, {"samples", 5}}, {{"x", 1}});
  ASSERT_TRUE(directory.ok());
  const auto run = read_run(directory.value());
  ASSERT_TRUE(run.ok());
  ASSERT_EQ(run.value().tasks.size(), 2U);
  EXPECT_FALSE(run.value().tasks[0].logged);
  EXPECT_EQ(scores_of(run.value()).samples.not_drawn, 10);
}

}  // namespace
}  // namespace kagent::score
