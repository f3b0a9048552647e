#include "agent/task/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "agent/base/file.h"
#include "agent/base/sha256.h"

namespace kagent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kBuiltin = KAGENT_SOURCE_DIR "/tasks";
const std::string kModel =
    "import torch\nclass Model(torch.nn.Module):\n    pass\nsize = 977\n"
    "def get_inputs():\n    return [torch.rand(size)]\ndef get_init_inputs():\n    return []\n";

std::vector<std::string> ids(const std::vector<TaskInfo>& tasks) {
  std::vector<std::string> found;
  for (const TaskInfo& task : tasks) found.push_back(task.id);
  return found;
}

class Tasks : public ::testing::Test {
 protected:
  ~Tasks() override { std::filesystem::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& text = kModel) {
    EXPECT_TRUE(write_file(folder_ + "/" + name, text).ok());
    return folder_ + "/" + name;
  }
  [[nodiscard]] TaskSource suite() const { return {kBuiltin, folder_, ""}; }

  std::string folder_ = std::filesystem::temp_directory_path() / ("kagent-task-" + std::to_string(::getpid()));
};

TEST_F(Tasks, TheBuiltInSuiteIsListedInOrder) {
  const auto tasks = list_tasks({kBuiltin, "", ""});
  ASSERT_TRUE(tasks.ok()) << tasks.error().message;
  std::vector<std::string> all;
  for (int problem = 1; problem <= 50; ++problem) all.push_back("3/" + std::to_string(problem));
  EXPECT_EQ(ids(tasks.value()), all);
}

TEST_F(Tasks, EveryBuiltInTaskCanBeFoundAndSaysHowPreciseToBe) {
  for (int problem = 1; problem <= 50; ++problem) {
    const std::string id = "3/" + std::to_string(problem);
    const auto task = find_task({kBuiltin, "", ""}, id);
    ASSERT_TRUE(task.ok()) << task.error().message;
    EXPECT_EQ(task.value().id, id);
    EXPECT_EQ(task.value().level, 3);
    EXPECT_EQ(task.value().source_sha256, sha256_hex(task.value().source));
    EXPECT_FALSE(task.value().numerics.empty());
  }
}

TEST_F(Tasks, ABlindTasksPromptHasNoSizes) {
  const auto task = find_task({kBuiltin, "", ""}, "3/35");
  ASSERT_TRUE(task.ok());
  EXPECT_TRUE(task.value().blind);
  const std::string shown = prompt_source(task.value());
  EXPECT_THAT(shown, HasSubstr("class Model"));
  for (const char* hidden : {"512", "128", "256", "batch_size = ", "get_inputs", "get_init_inputs"}) {
    EXPECT_THAT(shown, Not(HasSubstr(hidden)));
  }
  const auto seen = find_task({kBuiltin, "", ""}, "3/9");
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(prompt_source(seen.value()), seen.value().source);
}

TEST_F(Tasks, AMistypedIdIsAnsweredWithTheNearestRightOne) {
  const TaskSource builtin{kBuiltin, "", ""};
  EXPECT_THAT(find_task(builtin, "3-9").error().message, HasSubstr("did you mean 3/9 (resnet18)?"));
  EXPECT_THAT(find_task(builtin, "resnet81").error().message, HasSubstr("did you mean 3/9 (resnet18)?"));
  EXPECT_THAT(find_task(builtin, "elephants").error().message, HasSubstr("`kagent tasks` lists them"));
  EXPECT_THAT(find_task(builtin, "").error().message, HasSubstr("which task? Say --task 3/9"));
  EXPECT_EQ(find_task(builtin, "3/99").error().code, Code::kUsage);
}

TEST_F(Tasks, ATaskIsAlsoFoundByItsName) {
  const auto task = find_task({kBuiltin, "", ""}, "lenet5");
  ASSERT_TRUE(task.ok()) << task.error().message;
  EXPECT_EQ(task.value().id, "3/4");
  put("level1/1_Same.py");
  put("level2/1_Same.py");
  EXPECT_FALSE(find_task(suite(), "Same").ok());  // which of the two?
}

TEST_F(Tasks, AProblemThatALevelLacksIsAnsweredWithWhatItHas) {
  const auto task = find_task({kBuiltin, "", ""}, "3/99");
  ASSERT_FALSE(task.ok());
  EXPECT_EQ(task.error().message, "there is no task 3/99; level 3 has 3/1 to 3/50 (`kagent tasks` lists them)");
}

TEST_F(Tasks, ACheckoutIsReadWhereverItKeepsItsLevels) {
  for (const char* within : {"", "KernelBench/", "KernelBench/KernelBench/"}) {
    put(std::string(within) + "level1/7_Seven.py");
    put(std::string(within) + "level3/9_ResNet18.py");
    put(std::string(within) + "level3/35_LSTM.py");
    put(std::string(within) + "level3/47_NetVlad.py.original");
    put(std::string(within) + "level3/notes.py");
    const auto tasks = list_tasks(suite());
    ASSERT_TRUE(tasks.ok()) << tasks.error().message;
    EXPECT_THAT(ids(tasks.value()), ElementsAre("1/7", "3/9", "3/35"));
    std::filesystem::remove_all(folder_);
  }
}

TEST_F(Tasks, ACheckoutsTasksTakeBlindnessByNumberAndNumericsByFileName) {
  put("KernelBench/level3/35_LTSM.py");  // spelt another way: another file than the one measured
  put("KernelBench/level3/9_ResNet18.py");
  const auto lstm = find_task(suite(), "3/35");
  ASSERT_TRUE(lstm.ok());
  EXPECT_TRUE(lstm.value().blind);
  EXPECT_EQ(lstm.value().numerics, "");
  EXPECT_THAT(prompt_source(lstm.value()), Not(HasSubstr("977")));
  const auto resnet = find_task(suite(), "3/9");
  ASSERT_TRUE(resnet.ok());
  EXPECT_EQ(resnet.value().name, "ResNet18");
  EXPECT_THAT(resnet.value().numerics, HasSubstr("TF32"));
}

TEST_F(Tasks, WhatNoCheckCanTellIsNamedByTheManifest) {
  put("manifest.json",
      R"({"version": 1, "blind": [], "tasks": [{"id": "3/9", "name": "a", "file": "level3/9_a.py", "upstream": "9_A.py",
    "numerics": "", "cannot_show": ["parameter b: ignored"]}]})");
  put("level3/9_a.py", kModel);
  const auto tasks = list_tasks({folder_, "", ""});
  ASSERT_TRUE(tasks.ok()) << tasks.error().message;
  EXPECT_EQ(tasks.value().at(0).cannot_show, std::vector<std::string>{"parameter b: ignored"});
}

TEST_F(Tasks, AMissingOrEmptyCheckoutIsNamed) {
  EXPECT_EQ(list_tasks({kBuiltin, folder_ + "/nowhere", ""}).error().code, Code::kNotFound);
  put("README.md", "no levels");
  EXPECT_THAT(list_tasks(suite()).error().message, HasSubstr("--suite wants the root"));
}

TEST_F(Tasks, AFileOfTheUsersNeedsNoIdAndNoManifest) {
  const std::string path = put("my_model.py");
  const auto task = find_task({"/nowhere", "", path}, "");
  ASSERT_TRUE(task.ok()) << task.error().message;
  EXPECT_EQ(task.value().id, "file/my_model");
  EXPECT_EQ(task.value().source, kModel);
  EXPECT_FALSE(task.value().blind);
  EXPECT_TRUE(find_task({"", "", path}, "file/my_model").ok());
  EXPECT_THAT(find_task({"", "", path}, "file/my_modle").error().message, HasSubstr("did you mean file/my_model"));
}

TEST_F(Tasks, AFileThatIsNoTaskSaysWhatIsMissing) {
  EXPECT_EQ(find_task({"", "", folder_ + "/none.py"}, "").error().code, Code::kNotFound);
  EXPECT_THAT(find_task({"", "", put("a.py", "class ModelNew(Model): pass\n")}, "").error().message,
              HasSubstr("has no `class Model`"));
  EXPECT_THAT(find_task({"", "", put("b.py", "class Model(nn.Module): pass\n")}, "").error().message,
              HasSubstr("has no `def get_inputs`"));
  EXPECT_THAT(find_task({"", "", put("c.py", kModel + "\xff")}, "").error().message, HasSubstr("not UTF-8"));
  EXPECT_EQ(find_task({"", "", put("d.py", std::string(2 << 20, '#'))}, "").error().code, Code::kIo);
  EXPECT_THAT(find_task({"", "", folder_}, "").error().message, HasSubstr("is a folder"));
  EXPECT_THAT(find_task({"", "", folder_ + "/none.py"}, "3/9").error().message, HasSubstr("leave one out"));
}

TEST_F(Tasks, ABrokenManifestIsNamedWithWhatIsWrongInIt) {
  const std::string task = R"({"id": "3/9", "name": "a", "file": "f", "upstream": "u", "numerics": "")";
  const std::string head = R"({"version": 1, "blind": [], "tasks": [)";
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {"{\n oops}", "no JSON at line 2, column 2;"},
           {"[]", "version is not 1;"},
           {R"({"version": 1, "blind": 3, "tasks": []})", "blind is missing or no list of texts;"},
           {R"({"version": 1, "blind": []})", "tasks is missing or no list;"},
           {head + R"({"name": "a"}]})", "tasks[0]: id is missing or no text;"},
           {head + R"({"id": "3/9"}]})", "task 3/9: name is missing or no text;"},
           {head + "7]}", "tasks[0]: id is missing or no text;"},
           {head + task + R"(, "small": []}]})", "task 3/9: small is no object of numbers;"},
           {head + task + R"(, "cannot_show": [1]}]})", "task 3/9: cannot_show is no list of texts;"}}) {
    put("manifest.json", text);
    const auto tasks = list_tasks({folder_, "", ""});
    ASSERT_FALSE(tasks.ok()) << text;
    EXPECT_THAT(tasks.error().message, HasSubstr(folder_ + "/manifest.json is no task manifest: " + says));
    EXPECT_THAT(tasks.error().message, Not(HasSubstr("exception")));
  }
}

TEST_F(Tasks, ABrokenManifestIsAnErrorNotACrash) {
  for (const char* text : {"", "[]", "{\"version\": 2}", "{\"version\": 1, \"blind\": [], \"tasks\": [{\"id\": 3}]}",
                           "{\"version\": 1, \"blind\": [], \"tasks\": [{\"id\": \"3/x\", \"name\": \"\", \"file\": "
                           "\"\", \"upstream\": \"\", \"numerics\": \"\"}]}"}) {
    put("manifest.json", text);
    const auto tasks = list_tasks({folder_, "", ""});
    ASSERT_FALSE(tasks.ok()) << text;
    EXPECT_EQ(tasks.error().code, Code::kParse);
  }
  EXPECT_EQ(list_tasks({folder_ + "/none", "", ""}).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace kagent
