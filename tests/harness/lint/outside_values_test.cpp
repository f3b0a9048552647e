#include "tests/harness/lint/snippet.h"

namespace kagent::lint {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kClock = "mov.u64 %rd2, %clock64; ";

void expect_timer(const std::string& body) {
  EXPECT_THAT(rejected(lint_of(body, "")), Contains("timer_reaches_store")) << body;
}

TEST(Timer, AValueThatReachesAStoreIsRejected) {
  for (const char* way :
       {"st.global.u64 [%rd1], %rd2;", "st.shared.u64 [box], %rd2;",
        "and.b64 %rd3, %rd2, 1; atom.global.add.u64 %rd4, [%rd1], %rd3;", "red.global.add.u64 [%rd1], %rd2;",
        "add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], 1;",
        "setp.lt.u64 %p1, %rd2, 100; selp.f32 %f1, 0f00000000, 0f3F800000, %p1; st.global.f32 [%rd1], %f1;",
        "st.local.u64 [own], %rd2; ld.local.u64 %rd3, [own]; st.global.u64 [%rd1], %rd3;",
        "add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3]; st.global.f32 [%rd1], %f1;",
        "never.heard.of %rd3, %rd2; st.global.u64 [%rd1], %rd3;"})
    expect_timer(kClock + way);
  for (const char* clock : {"%clock", "%clock_hi", "%globaltimer_lo", "%globaltimer_hi"})
    expect_timer(std::string("mov.u32 %r1, ") + clock + "; st.global.u32 [%rd1], %r1;");
}

TEST(Timer, AValueThatDecidesWhetherAStoreRunsIsRejected) {
  const std::string test = kClock + "setp.lt.u64 %p1, %rd2, 100; ";
  expect_timer(test + "@%p1 st.global.u32 [%rd1], 1;");
  expect_timer(test + "@%p1 bra $L1; st.global.u32 [%rd1], 1;\n$L1:\n");
  expect_timer(test + "@%p1 bra $L1; bra.uni $L2;\n$L1:\nst.global.u32 [%rd1], 1;\n$L2:\n");
  expect_timer(test + "@%p1 ret; st.global.u32 [%rd1], 1;");
  expect_timer(test + "mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; st.global.u32 [%rd1], %r1;");
  expect_timer(test + "mov.u32 %r1, 1; @%p1 bra $L1; mov.u32 %r1, 2;\n$L1:\nst.global.u32 [%rd1], %r1;");
  expect_timer(test +
               "mov.u32 %r1, 1; @%p1 bra $L2; setp.eq.s32 %p2, %r2, 1; @%p2 bra $L2; st.global.u32 [%rd1], 1;\n$L2:\n");
  expect_timer(
      kClock +
      "cvt.u32.u64 %r1, %rd2; ts: .branchtargets $A, $B; brx.idx %r1, ts;\n$A:\nst.global.u32 [%rd1], 1;\n$B:\n");
}

TEST(Timer, AFunctionThatIsCalledByTheClockMayNotStore) {
  const std::string module =
      ".func writes(.param .b64 in) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [in]; st.u32 [%rd1], 1; ret; }\n";
  const std::string call = "{ .param .b64 a; st.param.b64 [a], %rd1; call writes, (a); }";
  EXPECT_THAT(rejected(lint_of(kClock + "setp.lt.u64 %p1, %rd2, 9; @%p1 bra $L1; " + call + "\n$L1:\n", module)),
              AllOf(Contains("timer_reaches_store"), Each("timer_reaches_store")));
  EXPECT_THAT(rejected(lint_of(kClock + call, module)), IsEmpty());
}

// The shape of libcu++'s barrier: wait, look at the clock, sleep, try again.
TEST(Timer, AWaitingLoopIsHonest) {
  const Report report = lint_of(
      "mov.u64 %rd2, %globaltimer;\n$wait:\n"
      "{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [box], %rd3; selp.b32 %r1, 1, 0, p; }\n"
      "setp.ne.s32 %p1, %r1, 0; @%p1 bra $done;\n"
      "mov.u64 %rd4, %globaltimer; sub.s64 %rd5, %rd4, %rd2; setp.lt.s64 %p2, %rd5, 40000; @%p2 bra $wait;\n"
      "cvt.u32.u64 %r2, %rd5; nanosleep.u32 %r2; bra.uni $wait;\n$done:\nst.global.u32 [%rd1], %r3;",
      "");
  EXPECT_THAT(said(report), ElementsAre("flag timer", "flag nanosleep"));
}

TEST(Timer, ALoopForATimeIsAFlagOnly) {
  EXPECT_THAT(said(lint_of(
                  "$again:\n" + kClock + "setp.lt.u64 %p1, %rd2, %rd3; @%p1 bra $again; st.global.u32 [%rd1], 1;", "")),
              ElementsAre("flag timer"));
}

TEST(Timer, LabelsBelongToTheirBraces) {
  const std::string wait =
      "{ .reg .pred q;\nLAB: " + kClock + "setp.lt.u64 q, %rd2, 9; @q bra DONE; bra LAB;\nDONE: }\n";
  EXPECT_THAT(said(lint_of(wait + "st.global.u32 [%rd1], 1;\n" + wait + "st.global.u32 [%rd1], 2;", "")),
              ElementsAre("flag timer"));
}

TEST(Timer, ARegisterMayNotTakeItsName) {
  EXPECT_THAT(said(lint_of("{ .reg .b64 %clock64; mov.u64 %rd2, %clock64; } st.global.u64 [%rd1], %rd2;", "")),
              Contains("flag timer"));
}

// cooperative groups' grid barrier.
TEST(Workspace, AGridBarrierIsHonestAndItsCountIsNoInput) {
  const std::string arrive =
      "mov.u32 %r1, %envreg2; cvt.u64.u32 %rd2, %r1; mov.u32 %r2, %envreg1; cvt.u64.u32 %rd3, %r2; bfi.b64 %rd4, %rd3, "
      "%rd2, 32, 32;"
      "setp.ne.s64 %p1, %rd4, 0; @%p1 bra $L2; trap;\n$L2:\nadd.s64 %rd5, %rd4, 4; barrier.sync 0; setp.ne.s32 %p2, "
      "%r3, 0; @%p2 bra $L5;"
      "atom.add.release.gpu.u32 %r4, [%rd5], 1;\n$L4:\nld.acquire.gpu.u32 %r5, [%rd5]; xor.b32 %r6, %r5, %r4; "
      "setp.gt.s32 %p3, %r6, -1;"
      "@%p3 bra $L4;\n$L5:\nbarrier.sync 0; st.global.u32 [%rd1], %r3;";
  EXPECT_THAT(said(lint_of(arrive, ""), true), ElementsAre("flag trap", "note special_register"));
  EXPECT_THAT(rejected(lint_of(arrive + "st.global.u32 [%rd1], %r4;", "")), ElementsAre("workspace_reaches_store"));
  EXPECT_THAT(rejected(lint_of(arrive + "st.global.u32 [%rd5], 1;", "")), ElementsAre("workspace_reaches_store"));
  EXPECT_THAT(rejected(lint_of(arrive + "setp.gt.s32 %p4, %r5, 9; @%p4 st.global.u32 [%rd1], 1;", "")),
              ElementsAre("workspace_reaches_store"));
}

}  // namespace
}  // namespace kagent::lint
