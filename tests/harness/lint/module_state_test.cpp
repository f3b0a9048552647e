#include "tests/harness/lint/snippet.h"

namespace kagent::lint {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void expect_state(const std::string& body, const std::string& module = ".global .align 4 .u32 counter;\n") {
  EXPECT_THAT(rejected(lint_of(body, module)), Contains("module_state")) << body;
}

void expect_none(const std::string& body, const std::string& module = ".global .align 4 .u32 counter;\n") {
  EXPECT_THAT(rejected(lint_of(body, module)), IsEmpty()) << body;
}

TEST(ModuleState, EveryKindOfWriteIsSeen) {
  for (const char* write :
       {"st.global.u32 [counter], %r1;", "st .global.u32 [counter], %r1;", "st.global/* */.u32 [counter], %r1;",
        "st.global.u32 counter[0], %r1;", "st.global.u32 [counter+4], 1;", "@%p1 st.global.u32 [counter], 1;",
        "@!%p1 st.volatile.global.u32 [counter], 1;", "atom.global.add.u32 %r1, [counter], 1;",
        "red.global.add.u32 [counter], 1;",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [counter], %r1, [box];",
        "cp.async.bulk.global.shared::cta.bulk_group [counter], [box], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [counter], [box], 16;",
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [counter], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8};",
        "multimem.red.global.add.u32 [counter], 1;", "discard.global.L2 [counter], 128;",
        "st.global.v2.u32 [counter], {%r1, %r2};", "never.heard.of [counter], %r1;",
        "never.heard.of %r2, [counter], %r1;"})
    expect_state(write);
}

TEST(ModuleState, AddressesAreFollowedThroughRegisters) {
  for (const char* way :
       {"mov.u64 %rd2, counter;", "mov.u64 %rd2, counter+8;", "mov.u64 %rd2, counter[1];",
        "mov.u64 %rd3, counter; cvta.global.u64 %rd2, %rd3;", "mov.u64 %rd3, counter; add.s64 %rd2, %rd1, %rd3;",
        "mov.u64 %rd3, counter; selp.b64 %rd2, %rd3, %rd1, %p1;",
        "mov.u64 %rd3, counter; mad.lo.s64 %rd2, %rd1, 4, %rd3;",
        "mov.u64 %rd3, counter; mov.b64 {%r1, %r2}, %rd3; mov.b64 %rd2, {%r1, %r2};",
        "mov.u64 %rd3, counter; xor.b64 %rd4, %rd3, %rd1; shl.b64 %rd5, %rd4, 1; not.b64 %rd2, %rd5;",
        "mov.u64 %rd3, counter; cvt.u32.u64 %r1, %rd3; shfl.sync.bfly.b32 %r2|%p2, %r1, 1, 31, -1; cvt.u64.u32 %rd2, "
        "%r2;",
        "mov.u64 %rd3, counter; setp.lt.u64 %p2, %rd3, 100; selp.u64 %rd2, 1, 0, %p2;",
        "mov.u64 %rd3, counter; cvt.u32.u64 %r1, %rd3; add.cc.u32 %r2, %r1, %r1; addc.u32 %r3, 0, 0; cvt.u64.u32 %rd2, "
        "%r3;"})
    expect_state(std::string(way) + " st.global.u32 [%rd2], 1;");
}

TEST(ModuleState, AnAddressMayNotGoWhereItCannotBeFollowed) {
  expect_state("mov.u64 %rd2, counter; st.global.u64 [%rd1], %rd2;");
  expect_state("mov.u64 %rd2, counter; st.u64 [%rd1], %rd2;");
  expect_state("mov.u64 %rd2, counter; atom.global.exch.b64 %rd3, [%rd1], %rd2;");
  expect_state(
      "mov.u64 %rd2, counter; st.shared.u64 [box], %rd2; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [box], "
      "16;");
}

TEST(ModuleState, AddressesAreFollowedThroughSharedAndLocalMemory) {
  expect_state(
      "mov.u64 %rd2, counter; st.volatile.shared.u64 [box], %rd2; ld.volatile.shared.u64 %rd3, [box]; st.u32 [%rd3], "
      "1;");
  expect_state("mov.u64 %rd2, counter; st.local.u64 [own], %rd2; ld.local.u64 %rd3, [own]; st.u32 [%rd3], 1;");
  expect_state("mov.u64 %rd2, counter; st.shared.u64 [box], %rd2; ld.u64 %rd3, [%rd1]; st.u32 [%rd3], 1;");
  const std::string left = kernel("mov.u64 %rd2, counter; st.shared.u64 [box], %rd2;", "leaves");
  EXPECT_THAT(rejected(lint(kHead + std::string(".global .u32 counter;\n") + left +
                            kernel("ld.shared.u64 %rd3, [box]; st.u32 [%rd3], 1;"))),
              ElementsAre("module_state"));
}

TEST(ModuleState, AddressesAreFollowedThroughFunctions) {
  const std::string module =
      ".global .u32 counter;\n"
      ".func (.param .b64 out) give() { .reg .b64 %rd<3>; mov.u64 %rd1, counter; st.param.b64 [out+0], %rd1; ret; }\n"
      ".func take(.param .b64 in) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [in+0]; st.u32 [%rd1], 1; ret; }\n"
      ".func (.param .b64 out) same(.param .b64 in) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [in+0]; st.param.b64 "
      "[out+0], %rd1; ret; }\n";
  expect_state("{ .param .b64 got; call.uni (got), give, (); ld.param.b64 %rd2, [got+0]; } st.u32 [%rd2], 1;", module);
  const Report taken =
      lint_of("{ .param .b64 a; mov.u64 %rd2, counter; st.param.b64 [a+0], %rd2; call.uni take, (a); }", module);
  ASSERT_THAT(rejected(taken), ElementsAre("module_state"));
  EXPECT_EQ(taken.findings[0].kernel, "take");
  const std::string through =
      "{ .param .b64 a; .param .b64 b; mov.u64 %rd2, counter; st.param.b64 [a], %rd2; call (b), same, (a); "
      "ld.param.b64 %rd3, [b]; } ";
  expect_state(through + "st.u32 [%rd3], 1;", module);
  EXPECT_THAT(rejected(lint(
                  kHead +
                  std::string(".global .u32 t = 3;\n"
                              ".func (.param .b32 out) look(.param .b64 in) { .reg .b64 %rd<3>; .reg .b32 %r<2>; "
                              "ld.param.u64 %rd1, [in];"
                              " ld.u32 %r1, [%rd1]; st.param.b32 [out], %r1; ret; }\n") +
                  kernel("{ .param .b64 a; .param .b32 b; mov.u64 %rd2, t; st.param.b64 [a], %rd2; call (b), look, (a);"
                         " ld.param.b32 %r1, [b]; } st.global.u32 [%rd1], %r1;"))),
              IsEmpty());
  expect_state("{ .param .b64 a; mov.u64 %rd2, counter; st.param.b64 [a], %rd2; call %rd1, (a), p; }", module);
}

TEST(ModuleState, VariablesOfEveryDeclarationAreFound) {
  for (const char* module :
       {".extern .global .u32 counter;\n", ".weak .global .align 8 .u32 counter;\n", ".common .global .u32 counter;\n",
        ".visible .global .u32 other, counter;\n", ".global .attribute(.managed) .align 4 .b8 counter[16] = {1, 2};\n",
        ".global .v4 .f32 counter;\n", ".const .align 4 .u32 counter = 3;\n", ". global .u32 counter = 7;\n"})
    expect_state("st.u32 [counter], 1;", module);
  expect_state("{ .global .u32 x; red.global.add.u32 [x], 1; }", "");
  expect_state(".loc 1 5 3 red.global.add.u32 [counter], 1;");
  EXPECT_THAT(rejected(lint(std::string(kHead) + kernel("red.global.add.u32 [late], 1;") + ".global .u32 late;\n")),
              ElementsAre("module_state"));
}

TEST(ModuleState, ARegisterOfTheSameNameHidesAVariable) {
  expect_none("{ .reg .b64 counter; mov.u64 counter, %rd1; st.global.u32 [counter], 1; }");
  expect_state("{ .reg .b64 counter; } st.global.u32 [counter], 1;");
}

TEST(ModuleState, TablesOfAddressesGiveAddresses) {
  const std::string tables = ".global .u32 counter;\n.global .u64 table[2] = {generic(counter), 0};\n";
  expect_state("ld.global.u64 %rd2, [table]; st.u32 [%rd2], 1;", tables);
  expect_none("ld.global.u64 %rd2, [table]; ld.u32 %r1, [%rd2]; st.global.u32 [%rd1], %r1;", tables);
  expect_state("ld.global.u64 %rd2, [tables]; ld.u64 %rd3, [%rd2]; st.u32 [%rd3], 1;",
               tables + ".global .u64 tables = generic(table);\n");
}

TEST(ModuleState, ReadingATableIsHonest) {
  const std::string table =
      ".global .align 4 .b8 __cudart_i2opi_f[24] = {65, 144};\n.const .align 4 .b8 c[16] = {0};\n";
  const Report report = lint_of(
      "mov.u64 %rd2, __cudart_i2opi_f;\n$L_loop:\nld.global.nc.u32 %r1, [%rd2]; mad.wide.u32 %rd3, %r1, 4, %rd1;"
      " st.local.u32 [own], %rd3; add.s64 %rd2, %rd2, 4; setp.ne.s64 %p1, %rd2, 24; @%p1 bra $L_loop;\n"
      "mov.u64 %rd4, c; ld.const.f32 %f1, [%rd4+4]; st.global.f32 [%rd1], %f1; prefetch.global.L2 [__cudart_i2opi_f];"
      " cp.async.ca.shared.global [box], [__cudart_i2opi_f], 16;",
      table);
  EXPECT_THAT(said(report, true), IsEmpty());
}

TEST(ModuleState, SharedVariablesAreNoState) {
  expect_none(
      "st.shared.u32 [box], 1; atom.shared.add.u32 %r1, [box], 1; mov.u64 %rd2, box; st.shared.u32 [%rd2+4], %r1;"
      " st.shared.u64 [box], %rd1;");
}

TEST(ModuleState, PresenceIsAFlagWhereAKernelNamesTheVariable) {
  EXPECT_THAT(said(lint_of("ld.global.u32 %r1, [counter]; st.global.u32 [%rd1], %r1;"), true),
              ElementsAre("flag module_global_present"));
  EXPECT_THAT(said(lint_of(""), true), IsEmpty());
  EXPECT_THAT(said(lint_of("", ".global .u32 x = 3;\n"), true), IsEmpty());
}

TEST(ModuleState, TheVariableAndTheKernelAreNamed) {
  const Report report = lint_of("st.global.u32 [counter], 1;");
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kernel, "k");
  EXPECT_THAT(report.findings[0].what, HasSubstr("variable counter"));
}

}  // namespace
}  // namespace kagent::lint
