#include "agent/answer/answer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace kagent::answer {
namespace {

const std::string kCuda = "```cuda\n__global__ void k() {}\n```\n";
const std::string kPython = "```python\nclass ModelNew(Model): pass\n```\n";

Answer found(const std::string& raw) {
  const Found f = find(raw);
  EXPECT_TRUE(std::holds_alternative<Answer>(f)) << std::get<NoAnswer>(f).message;
  return std::holds_alternative<Answer>(f) ? std::get<Answer>(f) : Answer{};
}

std::string missing(const std::string& raw) {
  const Found f = find(raw);
  EXPECT_TRUE(std::holds_alternative<NoAnswer>(f));
  return std::holds_alternative<NoAnswer>(f) ? std::get<NoAnswer>(f).kind : "";
}

TEST(Answer, IsTheTwoBlocksAmidProse) {
  const Answer a = found("Here you go:\n\n" + kCuda + "and\n" + kPython + "Enjoy!");
  EXPECT_EQ(a.cuda, "__global__ void k() {}\n");
  EXPECT_EQ(a.python, "class ModelNew(Model): pass\n");
  EXPECT_EQ(a.cuda_line, 4);
  EXPECT_EQ(a.python_line, 8);
}

TEST(Answer, TakesTheLastVersionOfEachBlock) {
  EXPECT_EQ(found("```cuda\n__global__ void old() {}\n```\n" + kPython + "Wait, better:\n" + kCuda).cuda,
            "__global__ void k() {}\n");
}

TEST(Answer, IgnoresAUsageExampleAfterTheModel) {
  EXPECT_EQ(found(kCuda + kPython + "Use it:\n```python\nprint(1)\n```\n").python, "class ModelNew(Model): pass\n");
}

TEST(Answer, KnowsOtherTagsThatModelsWrite) {
  EXPECT_EQ(found("```C++\n__global__ void k() {}\n```\n~~~~Py\nclass ModelNew(Model): pass\n~~~~\n").python,
            "class ModelNew(Model): pass\n");
  EXPECT_EQ(found("```\n__global__ void k() {}\n```\n```\nclass ModelNew(Model): pass\n```\n").cuda,
            "__global__ void k() {}\n");
  EXPECT_EQ(found("``` {.cuda title=\"x\"}\n__global__ void k() {}\n```\n" + kPython).cuda, "__global__ void k() {}\n");
}

TEST(Answer, AcceptsIndentedFencesAndWindowsLineEnds) {
  const Answer a = found("1. first\n   ```cuda\r\n   __global__ void k() {\r\n     x;\r\n   }\r\n   ```\r\n" + kPython);
  EXPECT_EQ(a.cuda, "__global__ void k() {\n  x;\n}\n");
}

TEST(Answer, OpensAReplyWrappedInOneMarkdownBlock) {
  EXPECT_EQ(found("````markdown\n" + kCuda + kPython + "````\n").cuda, "__global__ void k() {}\n");
}

TEST(Answer, MayHoldShorterFencesInALongerOne) {
  EXPECT_EQ(found("````python\nclass ModelNew(Model):\n  '''\n  ```\n  '''\n````\n" + kCuda).python,
            "class ModelNew(Model):\n  '''\n  ```\n  '''\n");
}

TEST(Answer, ThatLacksABlockSaysWhich) {
  EXPECT_EQ(missing(""), "no_blocks");
  EXPECT_EQ(missing("I cannot help."), "no_blocks");
  EXPECT_EQ(missing(kCuda), "no_python");
  EXPECT_EQ(missing(kPython), "no_cuda");
}

TEST(Answer, ThatWasCutOffSaysSo) {
  EXPECT_EQ(missing(kCuda + "```python\nclass ModelNew(Mod"), "cut_off");
  EXPECT_EQ(missing(kPython + "```cuda\n__global__ void k("), "cut_off");
}

TEST(Answer, ThatIsTooLargeIsRefused) {
  EXPECT_EQ(missing("```cuda\n//" + std::string(kMaxBlockBytes, 'x') + "\n__global__\n```\n" + kPython), "too_large");
}

TEST(Answer, ReplacesBytesThatAreNoText) {
  const std::string nul("```cuda\n__global__ \0 \xff void k() {}\n```\n", 39);
  EXPECT_EQ(found(nul + kPython).cuda, "__global__ \xEF\xBF\xBD \xEF\xBF\xBD void k() {}\n");
}

TEST(Answer, ReportsBytesThatAreNoText) {
  EXPECT_EQ(found(kCuda + kPython).replaced_bytes, 0);
  EXPECT_EQ(found("```cuda\n__global__ \x1b[31m\x7f\t\f \r x\n```\n" + kPython).replaced_bytes, 3);
}

TEST(Answer, IsNotTakenFromReasoning) {
  const std::string draft =
      "```cuda\n__global__ void draft() {}\n```\nhm, ``` no\n```python\nclass ModelNew(Model): no\n";
  const std::string replies[] = {"<think>\n" + draft + "</think>\n", draft + "</think>\n",
                                 "\n <thinking>" + draft + " </thinking> \n"};
  for (const std::string& reasoning : replies) {
    const Answer a = found(reasoning + kCuda + kPython);
    EXPECT_EQ(a.cuda, "__global__ void k() {}\n") << reasoning;
    EXPECT_EQ(a.cuda_line, 2 + std::count(reasoning.begin(), reasoning.end(), '\n')) << reasoning;
    EXPECT_EQ(missing(reasoning), "no_blocks");
  }
}

TEST(Answer, MayMentionAReasoningTag) {
  EXPECT_EQ(found(kCuda + "```python\n# </think>\nclass ModelNew(Model): pass\n```\n").cuda,
            "__global__ void k() {}\n");
  EXPECT_EQ(found("<think>\nnever closed\n" + kCuda + kPython).cuda, "__global__ void k() {}\n");
}

TEST(Answer, SurvivesAForgottenClosingFence) {
  const Answer a = found("```cuda\n__global__ void k() {}\n" + kPython);
  EXPECT_EQ(a.cuda, "__global__ void k() {}\n");
  EXPECT_EQ(a.python, "class ModelNew(Model): pass\n");
  EXPECT_EQ(found("```markdown\n" + kCuda + kPython + "```\n").python, "class ModelNew(Model): pass\n");
}

TEST(Answer, MayShowFencesInADocstring) {
  const std::string program = "class ModelNew(Model):\n    '''\n    ```python\n    x\n    ```\n    '''\n";
  EXPECT_EQ(found("```python\n" + program + "```\n" + kCuda).python, program);
}

TEST(Answer, WhoseNewVersionWasCutOffIsNotTheOldOne) {
  EXPECT_EQ(missing(kCuda + kPython + "Better:\n```cuda\n// no kernel ye"), "cut_off");
  EXPECT_EQ(missing(kCuda + kPython + "Better:\n" + kCuda + "```python\nimport tor"), "cut_off");
  EXPECT_EQ(found(kCuda + kPython + "Build it:\n```sh\nmake").cuda, "__global__ void k() {}\n");
}

TEST(Answer, SurvivesMutatedReplies) {
  std::mt19937 random(1);
  const std::string seed = "<think>x</think>\ntext\n" + kCuda + "````md\n" + kPython + "````\n~~~cu\nx\n~~~\n";
  const std::string alphabet("`~\n \r>{cudapy\0\xff\x1b<", 18);
  for (int i = 0; i < 20000; ++i) {
    std::string raw = seed;
    for (int edits = 1 + static_cast<int>(random() % 8); edits > 0 && !raw.empty(); --edits) {
      const std::size_t at = random() % raw.size();
      const char byte = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          raw[at] = byte;
          break;
        case 1:
          raw.erase(at, 1 + random() % 5);
          break;
        default:
          raw.insert(at, 1 + random() % 4, byte);
      }
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size());  // aborts on a fault
  }
}

TEST(Answer, IsFoundInLinearTime) {
  std::string raw;
  for (int i = 0; i < 200'000; ++i) raw += i % 2 == 0 ? "```markdown\n" : "</think> ```python\n";
  find(raw);  // a quadratic search would run into the test's time limit
  find(std::string(10'000'000, '`'));
}

}  // namespace
}  // namespace kagent::answer
