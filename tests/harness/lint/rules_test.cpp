// Rules that look at single instructions.
#include "tests/harness/lint/snippet.h"

namespace kagent::lint {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ExternCall, CodeThatIsNotInThePtxIsRejected) {
  for (const char* name : {"vprintf", "malloc", "free", "cudaLaunchDeviceV2", "mystery"}) {
    const std::string module = std::string(".extern .func (.param .b32 r) ") + name + "(.param .b64 a);\n";
    const std::string body = std::string("{ .param .b64 a; .param .b32 r; call.uni (r), ") + name + ", (a); }";
    EXPECT_THAT(said(lint_of(body, module)), ElementsAre("reject extern_call")) << name;
    EXPECT_THAT(said(lint_of(std::string("mov.u64 %rd2, ") + name + "; call %rd2, ();", module)),
                Contains("reject extern_call"))
        << name;
  }
  EXPECT_THAT(said(lint_of("call.uni nowhere, ();", "")), ElementsAre("reject extern_call"));
}

TEST(ExternCall, AnAssertIsAFlagAndItsTextsAreNoState) {
  const std::string module = ".extern .func __assertfail(.param .b64 a);\n.global .align 1 .b8 $str[3] = {65, 66};\n";
  EXPECT_THAT(said(lint_of("{ .param .b64 a; mov.u64 %rd2, $str; cvta.global.u64 %rd3, %rd2; st.param.b64 [a], %rd3; "
                           "call.uni __assertfail, (a); }",
                           module)),
              ElementsAre("flag extern_call"));
}

TEST(ExternCall, FunctionsOfTheModuleAreFine) {
  const std::string module =
      ".func (.param .b32 r) f(.param .b32 a);\n.func (.param .b32 r) f(.param .b32 a)\n.noreturn { ret; }\n";
  EXPECT_THAT(said(lint_of("{ .param .b32 a; .param .b32 r; call.uni (r), f, (a); }", module)), IsEmpty());
}

TEST(SpecialRegister, WhatIsNotOnTheListIsRejected) {
  for (const char* name : {"%gridid", "%pm0", "%pm7_64", "%envreg0", "%envreg31", "%current_graph_exec", "%invented"})
    EXPECT_THAT(said(lint_of(std::string("mov.u32 %r1, ") + name + ";", "")), ElementsAre("reject special_register"))
        << name;
  EXPECT_THAT(said(lint_of("mov.u32 %r1, %smid;", "")), ElementsAre("flag special_register"));
}

TEST(SpecialRegister, PlaceInTheGridIsFine) {
  EXPECT_THAT(
      said(lint_of(
          "mov.u32 %r1, %tid.x; mov.u32 %r2, %nctaid.y; mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid; mov.u32 %r5, %laneid;"
          "mov.u32 %r6, %lanemask_lt; mov.u32 %r7, %cluster_ctarank; mov.u32 %r8, %dynamic_smem_size; mov.u32 %r1, "
          "WARP_SZ;",
          "")),
      IsEmpty());
}

TEST(CachePolicy, LinesThatStayAreFlagged) {
  for (const char* one : {"ld.global.L1::evict_last.f32 %f1, [%rd1];", "ld.global.L2::evict_last.f32 %f1, [%rd1];",
                          "createpolicy.fractional.L2::evict_last.b64 %rd2, 1.0;",
                          "ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2;", "prefetch.global.L2::evict_last [%rd1];",
                          "applypriority.global.L2::evict_normal [%rd1], 128;", "discard.global.L2 [%rd1], 128;"})
    EXPECT_THAT(said(lint_of(one, "")), ElementsAre("flag cache_policy")) << one;
  EXPECT_THAT(said(lint_of("ld.global.nc.L1::no_allocate.L2::128B.f32 %f1, [%rd1]; st.global.cs.f32 [%rd1], %f1; "
                           "prefetch.global.L2 [%rd1];",
                           "")),
              IsEmpty());
}

TEST(CachePolicy, NamesTheCacheThatIsAsked) {
  const auto what = [](const char* text) { return lint_of(text, "").findings.at(0).what; };
  EXPECT_THAT(what("ld.global.L1::evict_last.L2::128B.f32 %f1, [%rd1];"), HasSubstr("L1 cache"));
  EXPECT_THAT(what("ld.global.L1::evict_last.L2::evict_last.f32 %f1, [%rd1];"), HasSubstr("L2 cache"));
  EXPECT_THAT(what("prefetch.global.L2::evict_last [%rd1];"), HasSubstr("L2 cache"));
}

TEST(Others, EndsAndSleepsAndOverlap) {
  EXPECT_THAT(said(lint_of("griddepcontrol.launch_dependents; griddepcontrol.wait;", "")),
              ElementsAre("flag pdl", "flag pdl"));
  EXPECT_THAT(said(lint_of("trap;", "")), ElementsAre("flag trap"));
  EXPECT_THAT(said(lint_of("brkpt;", "")), ElementsAre("reject trap"));
  EXPECT_THAT(said(lint_of("pmevent 1;", "")), ElementsAre("reject trap"));
  EXPECT_THAT(said(lint_of("nanosleep.u32 20;", "")), ElementsAre("flag nanosleep"));
  EXPECT_THAT(said(lint_of("setmaxnreg.inc.sync.aligned.u32 232; exit;", "")), IsEmpty());
}

TEST(Precision, ArithmeticIsNamedByItsTypes) {
  const auto words = [](const std::string& body) { return lint_of(body, "").arithmetic; };
  EXPECT_THAT(words("fma.rn.f32 %f1, %f2, %f3, %f4;"), ElementsAre("fp32"));
  EXPECT_THAT(words("add.f64 %fd1, %fd2, %fd3;"), ElementsAre("fp64"));
  EXPECT_THAT(words("cvt.rna.tf32.f32 %r1, %f1;"), ElementsAre("tf32"));
  EXPECT_THAT(words("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1}, {%r1}, {%r2}, {%f1};"),
              ElementsAre("tf32"));
  EXPECT_THAT(words("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, 1, 1, 1, 0, 0;"),
              ElementsAre("bf16"));
  EXPECT_THAT(words("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1};"),
              ElementsAre("fp16"));
  EXPECT_THAT(words("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f1}, {%r1}, {%r2}, {%f1};"),
              ElementsAre("fp8"));
  EXPECT_THAT(words("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1}, {%r1}, {%r2}, {%r1};"),
              ElementsAre("int8"));
  EXPECT_THAT(words("dp4a.s32.s32 %r1, %r2, %r3, %r4;"), ElementsAre("int8"));
  EXPECT_THAT(words("cvt.rn.f16.f32 %h1, %f1; cvt.rn.bf16x2.f32 %r1, %f1, %f2;"), ElementsAre("bf16", "fp16"));
  EXPECT_THAT(words("fma.rn.f16x2 %r1, %r2, %r3, %r4;"), ElementsAre("fp16"));
  EXPECT_THAT(words("cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;"), ElementsAre("fp8"));
  EXPECT_THAT(words("cvt.f32.f16 %f1, %h1; cvt.u32.u64 %r1, %rd1; mov.f32 %f1, %f2; ld.global.f32 %f1, [%rd1];"),
              IsEmpty());
}

TEST(Precision, AWordIsNotedOnceWithItsKernel) {
  const Report report = lint_of("cvt.rna.tf32.f32 %r1, %f1; cvt.rna.tf32.f32 %r2, %f2; add.f32 %f1, %f1, %f2;", "");
  ASSERT_THAT(said(report, true), ElementsAre("note precision"));
  EXPECT_EQ(report.findings[0].kernel, "k");
}

TEST(Precision, MasksThatCutMantissasAreNoted) {
  const auto note = [](const char* body) {
    const Report report = lint_of(body, "");
    return report.findings.empty() ? std::string() : report.findings[0].what;
  };
  EXPECT_THAT(note("and.b32 %r1, %r2, -65536;"), HasSubstr("bf16"));
  EXPECT_THAT(note("and.b32 %r1, %r2, 0xFFFF0000 ;"), HasSubstr("bf16"));
  EXPECT_THAT(note("and.b32 %r1, %r2, -8192;"), HasSubstr("tf32"));
  EXPECT_THAT(note("prmt.b32 %r1, %r2, %r3, 30258;"), HasSubstr("bf16"));
  EXPECT_EQ(note("and.b32 %r1, %r2, 65535; and.b32 %r1, %r2, -4;"), "");
}

TEST(Answer, LinesAreTheAnswersOwn) {
  const std::string files = ".file 1 \"/x/answer.cu\"\n.file 2 \"/cuda/answer.cu.h\"\n";
  const auto line = [&](const std::string& body) { return lint_of(body + " trap;", files).findings.at(0).line; };
  EXPECT_EQ(line(".loc 1 12 3\n"), 12);
  EXPECT_EQ(line(".loc 1 7 3\n.loc 2 100 1, function_name $L__info_string0, inlined_at 1 7 3\n"
                 ".loc 2 200 1, function_name $L__info_string1+8, inlined_at 2 100 1\n"),
            7);
  EXPECT_EQ(line(".loc 2 100 1\n"), std::nullopt);
  EXPECT_EQ(line(""), std::nullopt);
}

TEST(Answer, JsonHasEveryField) {
  const nlohmann::json json = to_json(lint_of("st.global.u32 [counter], 1; add.f32 %f1, %f1, %f1;"));
  ASSERT_FALSE(json["findings"].empty());
  EXPECT_EQ(json["findings"][0]["level"], "reject");
  EXPECT_EQ(json["findings"][0]["rule"], "module_state");
  EXPECT_EQ(json["findings"][0]["kernel"], "k");
  EXPECT_TRUE(json["findings"][0]["line"].is_null());
  EXPECT_EQ(json["arithmetic"], nlohmann::json({"fp32"}));
}

}  // namespace
}  // namespace kagent::lint
