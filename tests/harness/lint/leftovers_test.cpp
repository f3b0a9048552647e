#include "tests/harness/lint/snippet.h"

namespace kagent::lint {
namespace {

using testing::Contains;
using testing::Not;

void expect_told(const std::string& body) { EXPECT_THAT(rejected(lint_of(body)), Contains("leftovers")) << body; }
void expect_none(const std::string& body) { EXPECT_THAT(rejected(lint_of(body)), Not(Contains("leftovers"))) << body; }

TEST(Leftovers, LocalMemoryThatNothingHasWrittenTo) {
  expect_told("ld.local.u32 %r1, [own];");
  expect_told("mov.u64 %rd2, own; ld.local.v2.u32 {%r1, %r2}, [%rd2+8];");
  expect_told("ld.local.u32 %r1, [own]; st.local.u32 [own], %r1;");
  expect_told("st.global.u32 [%rd1], %r2; st.shared.u32 [box], %r2; ld.local.u32 %r1, [own];");
  expect_told("@%p1 bra skip; st.local.u32 [own], %r1; ret; skip: ld.local.u32 %r1, [own];");
}

TEST(Leftovers, OneWayOnWhichSomethingWasWrittenIsEnough) {
  expect_none("st.local.u32 [own], %r1; ld.local.u32 %r1, [own];");
  expect_none("@%p1 bra skip; st.local.u32 [own], %r1; skip: ld.local.u32 %r1, [own];");
  expect_none("loop: @%p1 bra first; ld.local.u32 %r1, [own]; first: st.local.u32 [own], %r1; @%p2 bra loop;");
  expect_none("cvta.local.u64 %rd2, %rd1; st.u32 [%rd2], %r1; ld.local.u32 %r1, [own];");
  expect_none("@%p1 st.local.u32 [own], %r1; ld.local.u32 %r1, [own];");
}

TEST(Leftovers, LoadsOfOtherMemoryAreNotMeant) {
  expect_none("ld.global.u32 %r1, [%rd1]; ld.shared.u32 %r2, [box]; ld.u32 %r3, [%rd1];");
}

}  // namespace
}  // namespace kagent::lint
