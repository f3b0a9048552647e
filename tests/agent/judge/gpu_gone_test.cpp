// A GPU that disappears while an answer is judged is no fault of the answer's. The processes are scripts that talk the
// protocol and do what the test wants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "agent/base/file.h"
#include "agent/judge/judge.h"
#include "tests/agent/judge/fake_harness.h"

namespace kagent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class GpuGone : public ::testing::Test {
 protected:
  GpuGone() {
    fs::remove_all(folder_);
    put_fake_harness(folder_, "[]", R"(import answers, os, sys
def main():
    here = os.path.dirname(os.path.abspath(__file__))
    def reply(request):
        gone = os.path.exists(here + "/gone")
        lost = {"ok": False, "error": {"stage": "internal", "kind": "cuda_error", "message": "no CUDA-capable device"}}
        if "candidate" in sys.argv and request["cmd"] == "run":
            kind = open(here + "/run").read().strip()
            if kind == "dies": os._exit(3)
            return {"ok": False, "error": {"stage": "run", "kind": kind, "message": "CUDA error: " + kind}}
        if gone and "reference" in sys.argv and request["cmd"] == "hello" and os.path.exists(here + "/begun"): return lost
        if "reference" in sys.argv: open(here + "/begun", "w").close()
        return {"ok": True, "device": {"name": "GPU", "arch": "sm_90a"}}
    answers.serve(reply)
)");
  }
  ~GpuGone() override { fs::remove_all(folder_); }

  void put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file(folder_ + "/" + name, text).ok());
  }
  // `run`: how the candidate's run ends; "dies" or a kind of error.
  Verdict judge(const std::string& run, bool gone) const {
    put("harness/run", run);
    if (gone) put("harness/gone", "");
    Installation installation;
    installation.root = folder_;
    installation.python = "python3";
    installation.compiler = folder_ + "/compile";
    JudgeSettings settings;
    settings.crew.gpu = "test-" + std::to_string(::getpid());
    auto opened = Judge::open(installation, settings, "3/4", [](std::string_view) {});
    if (!opened) {
      ADD_FAILURE() << opened.error().message;
      return {};
    }
    Artifacts artifacts;
    Verdict verdict = opened.value()->judge({"cuda", "python"}, draw_seeds(), artifacts);
    fs::remove("/tmp/kagent-gpu-" + settings.crew.gpu + ".lock");
    return verdict;
  }

  std::string folder_ = (fs::temp_directory_path() / ("kagent-gone-" + std::to_string(::getpid()))).string();
};

TEST_F(GpuGone, TheSampleIsNotRejected) {
  for (const char* run : {"dies", "cuda_error", "launch_failure"}) {
    fs::remove(folder_ + "/harness/begun");
    const Verdict verdict = judge(run, true);
    EXPECT_EQ(verdict.outcome, Outcome::kError) << run;
    ASSERT_TRUE(verdict.failure) << run;
    EXPECT_EQ(verdict.failure->kind, "gpu_gone") << run;
    EXPECT_THAT(verdict.failure->reason, HasSubstr("the GPU does not answer any more")) << run;
  }
}

TEST_F(GpuGone, WhileTheGpuAnswersACrashIsTheAnswersOwn) {
  for (const char* run : {"dies", "illegal_access"}) {
    fs::remove(folder_ + "/harness/begun");
    const Verdict verdict = judge(run, false);
    EXPECT_EQ(verdict.outcome, Outcome::kRejected) << run << ": " << (verdict.failure ? verdict.failure->reason : "");
    EXPECT_EQ(verdict.failure->stage, "run") << run;
  }
}

}  // namespace
}  // namespace kagent
