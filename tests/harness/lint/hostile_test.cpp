// PTX that no compiler wrote: nothing may crash, hang or hide what stands in it.
#include <chrono>
#include <cstdint>
#include <random>

#include "tests/harness/lint/snippet.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace kagent::lint {
namespace {

using testing::Contains;
using testing::IsEmpty;

void feed(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

std::string repeated(const std::string& text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}

TEST(Hostile, WhatCommentsAndStringsHoldIsNoCode) {
  EXPECT_THAT(
      said(lint_of("// st.global.u32 [counter], 1;\n/* brkpt; { */ .pragma \"st.global.u32 [counter], 1; {\";\n")),
      IsEmpty());
  EXPECT_THAT(rejected(lint_of("/* /* */ brkpt; .pragma \"//\"; pmevent 1; // */\n", "")), Contains("trap"));
}

TEST(Hostile, WhatTwoReadersMayTakeDifferentlyIsRejected) {
  for (const std::string& body :
       {std::string("// \\\nbrkpt;"), std::string(".pragma \"a\\\";"), std::string("trap;\r"),
        std::string("// \r brkpt;\n"), std::string("// \0 brkpt;\n", 12), std::string(".MACRO m st .ENDM;"),
        std::string("#define st ld\n"), std::string("@@DWARF x;"), std::string("}"), std::string("{"),
        std::string(".entry inner() { ret; }"), std::string("\"a\nb\"")})
    EXPECT_THAT(rejected(lint_of(body, "")), Contains("unreadable")) << body;
}

TEST(Hostile, AFunctionOpenedByInlineAsmIsRead) {
  EXPECT_THAT(rejected(lint_of("ret; } .entry second() { .reg .b32 a; red.global.add.u32 [counter], 1; ")),
              Contains("module_state"));
}

TEST(Hostile, SizeCostsNoTime) {
  const auto begin = std::chrono::steady_clock::now();
  feed(repeated("{", 200000));
  feed(kHead + kernel(repeated("{ .reg .b32 a; ", 200000)));
  feed(kHead + kernel("mov.b32 " + repeated("{", 200000)));
  feed(kHead + kernel("add " + repeated("%r1, ", 200000) + "%r2;"));
  feed(kHead + kernel("mma {" + repeated("%r1, ", 100000) + "%r1}, {" + repeated("%r2, ", 100000) + "%r2};"));
  feed(kHead + kernel(repeated("{ L: mov.u64 %rd1, %clock64; @%p1 bra L; }", 20000)));
  feed(kHead + kernel(repeated("L: @%p1 bra L;\n", 20000)));
  std::string ladder = "mov.u64 %rd1, %clock64; setp.ne.u64 %p1, %rd1, 0;\n";
  for (int i = 0; i < 5000; ++i) ladder += "@%p1 bra E" + std::to_string(i) + ";\n";
  for (int i = 0; i < 5000; ++i) ladder += "E" + std::to_string(i) + ": st.global.u32 [%rd2], 1;\n";
  feed(kHead + kernel(ladder));
  feed(kHead + kernel("t: .branchtargets " + repeated("t, ", 20000) + "t;" +
                      repeated("L: brx.idx %r1, t; mov.u32 %r1, %clock;", 2000)));
  feed(kHead + repeated(".func f() { call %rd1, (), p; ret; }\n", 20000));
  feed(repeated("\"", 100001) + repeated("/*", 100000));
  feed(repeated(".loc 1 2 3, inlined_at 1 2 3\n", 50000));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));  // 3 s without sanitizers
}

TEST(Hostile, MutationsOfGoodPtxDoNoHarm) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::string good =
      kHead +
      std::string(
          ".global .u64 t[2] = {generic(c), 1};\n.global .u32 c;\n.func (.param .b32 r) f(.param .b64 a) { ret; }\n") +
      kernel(
          "mov.u64 %rd2, %clock64; setp.ne.u64 %p1, %rd2, 0; @%p1 bra L;\n.loc 1 2 3\n{ .param .b64 a; call (a), f, "
          "(a), p; }\nL: atom.global.add.u32 "
          "%r1, [c+4], {1}; shfl.sync.bfly.b32 %r2|%p2, %r1, 1, 31, -1; ts: .branchtargets L; brx.idx %r1, ts;") +
      ".file 1 \"answer.cu\"\n.section .debug_str { a: .b8 1 }\n";
  for (int i = 0; i < 4000; ++i) {
    std::string text = good;
    for (std::size_t n = below(5) + 1; n > 0 && !text.empty(); --n) {
      const std::size_t at = below(text.size());
      const std::size_t length = std::min(below(40), text.size() - at);
      switch (below(4)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(below(text.size()), text.substr(at, length));
          break;
        default:
          text.insert(at, 1, "{}[]();,.@%:\"/*\\<="[below(18)]);
      }
    }
    feed(text);
  }
}

}  // namespace
}  // namespace kagent::lint
