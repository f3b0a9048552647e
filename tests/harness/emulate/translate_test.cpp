#include "harness/emulate/translate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/emulate/ptx.h"

namespace kagent::emulate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string translated(const std::string& answer, const std::vector<std::string>& names = {}) {
  const auto result = translate(compile::prepare_source(answer), names);
  if (const auto* no = std::get_if<NotEmulable>(&result))
    return "not emulable: " + no->reason + " at " + std::to_string(no->line);
  return std::get<std::string>(result);
}

TEST(Translate, DynamicSharedMemoryIsAPointerInAFunctionAndAMacroOutside) {
  const std::string inside = translated("__global__ void f() {\n  extern __shared__ float s[];\n  s[0] = 1;\n}\n");
  EXPECT_THAT(inside, HasSubstr("float* s = static_cast<float*>(kagent::emulate::dynamic_shared());"));
  EXPECT_THAT(inside, Not(HasSubstr("#define s")));
  const std::string outside = translated(
      "namespace {\nextern __shared__ __align__(16) unsigned char s[];\n}\n__global__ void f() { s[0] = 1; }\n");
  EXPECT_THAT(outside, HasSubstr("#define s (static_cast<unsigned char*>(kagent::emulate::dynamic_shared()))"));
}

TEST(Translate, LinesStayTheAnswersOwn) {
  EXPECT_THAT(translated("// a\nextern __shared__ float s[];\nint marked;\n"),
              HasSubstr("#line 2 \"answer.cu\"\n\nint marked;"));
  EXPECT_THAT(translated("void f() { asm(\"ex2.approx.f32 %0, %1;\"\n    : \"=f\"(a) : \"f\"(b)); }\nint marked;\n"),
              HasSubstr("\n; }\nint marked;"));
}

TEST(Translate, CommentsAndStringsAreNoCode) {
  EXPECT_THAT(translated("// asm(\"nothing\")\n/* extern __shared__ float s[]; */ const char* t = \"asm(\";\n"),
              HasSubstr("/* extern __shared__ float s[]; */"));
  EXPECT_THAT(translated("int million = 1'000'000; // '\nint b;\n"), HasSubstr("1'000'000"));
}

TEST(Translate, KernelsAreListedInOrder) {
  EXPECT_THAT(translated("template <int N> __global__ void k(float* x) {}\n", {"k<3>"}),
              HasSubstr("{\"k<3>\", &kagent::emulate::Caller<&k<3>>::body"));
}

TEST(Translate, WhatACpuCannotDoIsNamedWithItsLine) {
  EXPECT_EQ(translated("\nvoid f() { asm(\"wgmma.fence.sync.aligned;\"); }\n"),
            "not emulable: inline PTX (wgmma.fence.sync.aligned) at 2");
  EXPECT_EQ(translated("__attribute__((constructor)) void f() {}\n"),
            "not emulable: the compiler's own words (__attribute__) at 1");
}

TEST(Ptx, OperandsGoWhereTheyStand) {
  const auto call = translate_asm(
      "asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\\n\" :: \"r\"(dst), \"l\"(ns::src(a, b)) : "
      "\"memory\")");
  EXPECT_EQ(std::get<std::string>(call), "(kagent::ptx::cp_async((dst), (ns::src(a, b)), 16), static_cast<void>(0))");
  const auto register_name = translate_asm("asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane))");
  EXPECT_EQ(std::get<std::string>(register_name),
            "(kagent::ptx::mov((lane), kagent::emulate::lane()), static_cast<void>(0))");
}

TEST(Ptx, WhatIsNotKnownIsNamed) {
  EXPECT_EQ(std::get<UnknownPtx>(translate_asm("asm(\"tcgen05.mma;\")")).instruction, "tcgen05.mma");
  // The instruction is named, not the scope round it.
  EXPECT_EQ(std::get<UnknownPtx>(
                translate_asm("asm(\"{\\n\" \".reg .pred p;\\n\" \"setp.ne.b32 p, %0, 0;\\n\" \"}\\n\" :: \"r\"(a))"))
                .instruction,
            "setp.ne.b32");
  EXPECT_EQ(std::get<UnknownPtx>(translate_asm("asm(\"mov.u32 r1, %0;\" :: \"r\"(a))")).instruction, "mov.u32 with r1");
}

// Each of these ended the compiler process when a regular expression looked at it.
TEST(Translate, LongLinesAreNoMatterForTheStack) {
  const std::string many(1'000'000, 'x');
  EXPECT_EQ(reason_in("answer.cu:3:1: error: " + many + "\n").line, 3);
  EXPECT_THAT(translated("void k() { asm(\"fence." + many + ";\"); }"), HasSubstr("not emulable: inline PTX (fence.x"));
  EXPECT_THAT(translated("extern __shared__ A" + many + " y[];"), HasSubstr("extern __shared__ Ax"));
  EXPECT_THAT(translated("void k() { asm" + std::string(1'000'000, ' ') + "(\"\"); }"),
              HasSubstr("static_cast<void>(0)"));
}

TEST(Translate, OperandsThatMultiplyAreRefused) {
  std::string uses;
  for (int i = 0; i < 20'000; ++i) uses += "mov.b32 %0, %0;";
  EXPECT_THAT(translated("void k() { asm(\"" + uses + "\" :: \"r\"(" + std::string(400'000, 'a') + ")); }"),
              HasSubstr("too long"));
}

TEST(ReasonIn, NamesTheHeaderThatTheAnswerIncludesAndNotOneThatItNeeds) {
  const NotEmulable why = reason_in(
      "In file included from /usr/local/cuda/include/cccl/cuda/std/__floating_point/fp.h:3,\n"
      "                 from /usr/local/cuda/include/cccl/cuda/std/numeric:20,\n"
      "                 from /tmp/kagent-emulate-x/answer.cpp:2:\n"
      "/work/harness/emulate/include/cuda_fp8.h:2:2: error: #error \"not emulable: fp8 types\"\n");
  EXPECT_EQ(why.reason, "<cuda/std/numeric> (fp8 types)");
  EXPECT_EQ(why.line, 0);
}

TEST(ReasonIn, AFailureInTheEmulationsOwnHeadersIsNotTheAnswers) {
  const NotEmulable why = reason_in(
      "/work/harness/emulate/include/kagent_emulate/warp.h: In instantiation of 'T f(T)':\n"
      "answer.cu:12:5:   required from here\n"
      "/work/harness/emulate/include/kagent_emulate/warp.h:33:5: error: no match for 'operator+'\n"
      "answer.cu:13:1: error: 'x' was not declared\n");
  EXPECT_EQ(why.reason, "the emulation's <kagent_emulate/warp.h> does not do this: no match for 'operator+'");
  EXPECT_EQ(why.line, 12);
}

TEST(Translate, WhatHidesACompilersOwnWordIsRefused) {
  EXPECT_EQ(translated("const char* s = R\"(/*)\"; __attribute__((constructor)) void f(); /*)\"; */\n"),
            "not emulable: raw strings at 0");
  EXPECT_EQ(translated("int a;\n<:<:gnu::constructor:>:> void f();\n"), "not emulable: digraphs at 2");
  EXPECT_EQ(translated("int a;\n__attri\\\nbute__((constructor)) void f();\n"),
            "not emulable: the compiler's own words (__attribute__) at 2");
  EXPECT_EQ(translated("char a = L'\"'; __attribute__((constructor)) void f(); // \"\n"),
            "not emulable: the compiler's own words (__attribute__) at 1");
  EXPECT_EQ(translated("/*/ */ __attribute__((constructor)) void f(); /* */\n"),
            "not emulable: the compiler's own words (__attribute__) at 1");
  EXPECT_THAT(translated("void f() { g<::h>(1); }\n"), HasSubstr("g<::h>"));
}

TEST(HiddenWord, IsFoundWhereMacrosAreExpanded) {
  const auto found = hidden_word("# 1 \"own.cpp\"\n\n# 7 \"answer.cu\"\nint a;\nvoid f() { __builtin_trap(); }\n");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->reason, "the compiler's own words (__builtin_trap)");
  EXPECT_EQ(found->line, 8);
  EXPECT_EQ(hidden_word("# 1 \"answer.cu\"\n#pragma GCC optimize 3\n")->reason,
            "the compiler's own words (#pragma GCC)");
  EXPECT_EQ(hidden_word("# 1 \"answer.cu\"\nvoid f() { asm(\"nop\"); }\n")->reason, "asm by a macro");
  EXPECT_FALSE(hidden_word("# 1 \"answer.cu\"\n#pragma unroll\nconst char* s = \"asm\";\n").has_value());
}

TEST(OwnMacrosOnly, LeavesOutWhatIsIncludedAndKeepsLines) {
  EXPECT_EQ(own_macros_only("#include <a>\n # include \"b\" // c\nint x; // #include <c>\n"),
            "\n\nint x; // #include <c>\n");
}

TEST(ReasonIn, NamesTheCompilersFirstComplaint) {
  EXPECT_EQ(
      reason_in("answer.cu:7:3: error: call to 'x' declared with attribute error: not emulable: clusters\n").reason,
      "clusters");
  EXPECT_EQ(reason_in("answer.cpp:2:10: fatal error: cuda/barrier: No such file or directory\n").reason,
            "#include <cuda/barrier>");
  EXPECT_EQ(reason_in("answer.cu:9:1: error: 'foo' was not declared\n").line, 9);
}

}  // namespace
}  // namespace kagent::emulate
