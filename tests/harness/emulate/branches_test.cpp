#include "harness/emulate/branches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::emulate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

compile::Source source_of(const std::string& answer) { return compile::prepare_source(answer); }

// The text with only the branches of these numbers, its own part.
std::string with_branches(const std::string& answer, const std::set<std::string>& taken) {
  std::set<std::string> kernels = {"mark_all"};
  for (const std::string& number : taken) kernels.insert("mark_" + number);
  const auto out = settled(source_of(answer), kernels, "mark_");
  if (!out) return "none";
  const std::string start = "#line 1 \"answer.cu\"\n";
  return out->text.substr(out->text.find(start) + start.size());
}

TEST(Branches, AnAnswerWithoutConditionalsAsksNothing) {
  EXPECT_FALSE(question_of(source_of("#define A 1\nint a = A; // #if\nconst char* s = \"#if\";\n")).has_value());
}

TEST(Branches, TheQuestionHasTheDirectivesAndNoCode) {
  const auto question = question_of(source_of("#ifdef A\n#define B 1\nint a;\n#else\nint b;\n#endif\n"));
  ASSERT_TRUE(question.has_value());
  EXPECT_THAT(question->source.text, HasSubstr("#define B 1"));
  EXPECT_THAT(question->source.text, Not(HasSubstr("int ")));
  EXPECT_THAT(question->source.text, HasSubstr(question->mark + "1() {}"));
  EXPECT_THAT(question->source.text, Not(HasSubstr(question->mark + "2() {}")));
  EXPECT_NE(question->mark, question_of(source_of("#if 1\n#endif\n"))->mark);  // an author cannot know it
}

TEST(Branches, OnlyTheBranchesThatAreTakenStayAndLinesWithThem) {
  const char* answer = "#ifdef A\nint a;\n#elif B\nint b;\n#else\nint c;\n#endif\nint d;\n";
  EXPECT_EQ(with_branches(answer, {"1"}), "\n\n\nint b;\n\n\n\nint d;\n");
  EXPECT_EQ(with_branches(answer, {}), "\n\n\n\n\n\n\nint d;\n");
  // One inside another that is not taken has no kernel, and stays out.
  EXPECT_EQ(with_branches("#if A\n#if 1\nint a;\n#endif\n#endif\n", {"1"}), "\n\n\n\n\n");
}

TEST(Branches, ADirectiveGoesOnThroughACommentAndASplice) {
  const char* answer = "#if 1 /*\n*/ && \\\n0\nint a;\n#endif\n";
  EXPECT_THAT(question_of(source_of(answer))->source.text, HasSubstr("&& 0"));
  EXPECT_EQ(with_branches(answer, {}), "\n\n\n\n\n");
}

TEST(Branches, AReplyWithoutTheKernelThatIsAlwaysThereIsNone) {
  EXPECT_FALSE(settled(source_of("#if 1\n#endif\n"), {"mark_0"}, "mark_").has_value());
  EXPECT_FALSE(settled(source_of("#if 1\n"), {"mark_all"}, "mark_").has_value());
}

}  // namespace
}  // namespace kagent::emulate
