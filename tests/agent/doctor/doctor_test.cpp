#include "agent/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "agent/doctor/checks.h"

namespace kagent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Doctor : public ::testing::Test {
 protected:
  Doctor() { std::filesystem::create_directories(folder_); }
  ~Doctor() override { std::filesystem::remove_all(folder_); }

  std::string program(const std::string& name, const std::string& body) {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << body;
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    return path;
  }

  std::string folder_ = std::filesystem::temp_directory_path() / ("kagent-doctor-" + std::to_string(::getpid()));
};

TEST_F(Doctor, SaysThatThereIsNoPython) {
  const auto facts = doctor::check_python(folder_ + "/python", folder_ + "/lib.so");
  EXPECT_EQ(facts.python.health, Health::kMissing);
  EXPECT_EQ(facts.torch.health, Health::kMissing);
  EXPECT_EQ(facts.library.health, Health::kMissing);
  EXPECT_THAT(facts.python.advice, HasSubstr("./dev build"));
}

TEST_F(Doctor, HoldsTorchToThePinnedVersion) {
  const std::string answer = R"(read line; echo '{"ok": true, "python": "3.12.3", "torch": "TORCH", "wheels": "/w"}')";
  auto with = [&](const std::string& torch) {
    std::string body = answer;
    body.replace(body.find("TORCH"), 5, torch);
    return doctor::check_python(program("python", body), program("lib.so", "")).torch;
  };
  EXPECT_EQ(with("2.11.0+cu130").health, Health::kOk);
  EXPECT_EQ(with("2.11.0").health, Health::kOk);
  EXPECT_EQ(with("2.11.01").health, Health::kMissing);
  EXPECT_EQ(with("2.9.1+cu128").health, Health::kMissing);
  EXPECT_THAT(with("2.9.1+cu128").fact, HasSubstr("2.9.1"));
}

TEST_F(Doctor, PassesOnWhyTheHarnessLibraryDoesNotLoad) {
  const auto python = program("python", R"(read line; echo '{"ok": true, "python": "3.12.3", "torch": "2.11.0",
"wheels": "/w", "library_error": "undefined symbol: x"}' | tr '\n' ' '; echo)");
  const auto facts = doctor::check_python(python, program("lib.so", ""));
  EXPECT_EQ(facts.library.health, Health::kMissing);
  EXPECT_THAT(facts.library.fact, HasSubstr("undefined symbol"));
}

TEST_F(Doctor, AsksTheCompilerItself) {
  const auto good = program("good", R"(read line; echo '{"ok": true, "nvrtc": "13.0", "seal": "landlock+seccomp"}')");
  EXPECT_EQ(doctor::check_compiler(good, folder_).health, Health::kOk);
  EXPECT_THAT(doctor::check_compiler(good, folder_).fact, HasSubstr("NVRTC 13.0, sealed by landlock+seccomp"));
  const auto bad = program("bad", R"(read line; echo '{"ok": false, "error": {"message": "no NVRTC"}}')");
  EXPECT_EQ(doctor::check_compiler(bad, folder_).health, Health::kMissing);
  EXPECT_THAT(doctor::check_compiler(bad, folder_).fact, HasSubstr("no NVRTC"));
  EXPECT_EQ(doctor::check_compiler(folder_ + "/none", folder_).health, Health::kMissing);
}

TEST_F(Doctor, ALibraryThatIsNotALibraryIsNamed) {
  std::filesystem::create_directories(folder_ + "/lib");
  std::ofstream(folder_ + "/lib/libnvrtc.so.13") << "text";
  EXPECT_EQ(doctor::check_nvrtc({folder_}).health, Health::kMissing);
  EXPECT_THAT(doctor::check_nvrtc({folder_}).fact, HasSubstr("does not load"));
  EXPECT_EQ(doctor::check_cupti({folder_}).health, Health::kWarning);
  EXPECT_EQ(doctor::check_nvrtc({}).fact, "not found");
}

TEST_F(Doctor, AFolderMayNotExistYetButMustBeWritable) {
  EXPECT_NE(doctor::check_folder("runs folder", folder_ + "/not/yet").health, Health::kMissing);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/not"));  // it only looks
  EXPECT_EQ(doctor::check_folder("runs folder", program("file", "")).health, Health::kMissing);
  EXPECT_NE(doctor::check_folder("runs folder", "/proc/none").health, Health::kOk);
  EXPECT_EQ(doctor::check_folder("runs folder", "").health, Health::kMissing);
}

TEST_F(Doctor, NamesKeysAndNeverShowsThem) {
  for (const char* name : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"}) ::unsetenv(name);
  EXPECT_EQ(doctor::check_keys().health, Health::kWarning);
  ::setenv("ANTHROPIC_API_KEY", "sesame", 1);
  const std::string shown = to_text({doctor::check_keys()}) + to_json({doctor::check_keys()}).dump();
  EXPECT_THAT(shown, HasSubstr("ANTHROPIC_API_KEY"));
  EXPECT_THAT(shown, Not(HasSubstr("sesame")));
  ::unsetenv("ANTHROPIC_API_KEY");
}

TEST_F(Doctor, AWarningIsNoObstacle) {
  const Finding warning{"GPU", Health::kWarning, "none", "find one"};
  const Finding missing{"torch", Health::kMissing, "none", "install it"};
  EXPECT_TRUE(all_there({warning}));
  EXPECT_FALSE(all_there({warning, missing}));
  EXPECT_EQ(to_json({warning, missing}).at("ok"), false);
  EXPECT_EQ(to_json({warning}).at("checks").at(0).at("health"), "warning");
  EXPECT_THAT(to_text({missing}), HasSubstr("-> install it"));
}

TEST_F(Doctor, ExaminesEverythingEvenWhereNothingIs) {
  const auto findings = examine({});
  EXPECT_EQ(findings.size(), 11U);
  EXPECT_FALSE(all_there(findings));
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.name.empty());
    EXPECT_EQ(finding.advice.empty(), finding.health == Health::kOk) << finding.name;
  }
}

}  // namespace
}  // namespace kagent
