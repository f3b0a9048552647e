#include "agent/audit/blank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace kagent::audit {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* source;
  const char* blanked;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.source; }

class Blanks : public ::testing::TestWithParam<Case> {};

TEST_P(Blanks, CommentsAndWhatStringsSay) {
  const Blanked blanked = blank(GetParam().source);
  EXPECT_EQ(blanked.unsure, "");
  EXPECT_EQ(blanked.text, GetParam().blanked);
}

INSTANTIATE_TEST_SUITE_P(
    Source, Blanks,
    ::testing::Values(Case{"int a; // note\nint b;\n", "int a;        \nint b;\n"},
                      Case{"a /* x\n y */ b\n", "a     \n      b\n"},               //
                      Case{"a /*/ still */ b", "a              b"},                 //
                      Case{"a / b * c / d", "a / b * c / d"},                       //
                      Case{"// one \\\ntwo\nint c;\n", "        \n   \nint c;\n"},  // a comment goes on after a splice
                      Case{"/\\\n/ x\nint d;", "  \n   \nint d;"},                  // and may begin across one
                      Case{"f(\"// no comment\") /* c */;", "f(\"             \")        ;"},
                      Case{"\"a\\\"b\" + 1", "\"    \" + 1"},                      // an escaped quote
                      Case{"\"a\\\\\" // c", "\"   \"     "},                      // an escaped backslash
                      Case{"\"ab\\\ncd\"", "\"  \\\n  \""},                        // a string over two lines
                      Case{"char q = '\"'; // x", "char q = ' ';     "},           //
                      Case{"char q = '\\''; int x;", "char q = '  '; int x;"},     //
                      Case{"int n = 1'000'000; // x", "int n = 1'000'000;     "},  // digit separators
                      Case{"0x1p+3f'0 + .5e-3'1", "0x1p+3f'0 + .5e-3'1"},          //
                      Case{"R\"(a \" // b)\" + 1", "R\"(        )\" + 1"},         //
                      Case{"u8R\"x(a)\" \n)x\";", "u8R\"x(    \n)x\";"},           //
                      Case{"xR\"(a\" b", "xR\"  \" b"},                            // no raw string: another name
                      Case{"1R\"(a\" b", "1R\"  \" b"},                            // nor after a number
                      Case{"L\"ab\" u8\"c\"_x", "L\"  \" u8\" \"_x"},              //
                      Case{"a ?\?/\nb // ?\?/\nc", "a ?\?/\nb       \nc"},         // trigraphs are none
                      Case{"#include <cuda_fp16.h> // x\n", "#include <cuda_fp16.h>     \n"},
                      Case{"#include \"a.h\" // x\n", "#include \"a.h\"     \n"},
                      Case{"a < b /* c */ > d", "a < b         > d"},  //
                      Case{"#define S(x) #x // y\n", "#define S(x) #x     \n"}));

INSTANTIATE_TEST_SUITE_P(Assembly, Blanks,
                         ::testing::Values(Case{"asm volatile(\"mov.u32 %0, 1;\" : \"=r\"(a)); f(\"b\"); // c",
                                                "asm volatile(\"mov.u32 %0, 1;\" : \"=r\"(a)); f(\" \");     "},
                                           Case{"asm(R\"(mov)\" :: \"r\"(f(1))); g(\"x\")",
                                                "asm(R\"(mov)\" :: \"r\"(f(1))); g(\" \")"},
                                           Case{"asm(/* why */ \"nop;\")", "asm(          \"nop;\")"},
                                           Case{"asm x(\"text\")", "asm x(\"    \")"}));

class Doubts : public ::testing::TestWithParam<Case> {};

TEST_P(Doubts, LeaveTheSourceAsItIs) {
  const Blanked blanked = blank(GetParam().source);
  EXPECT_THAT(blanked.unsure, HasSubstr(GetParam().blanked));
  EXPECT_EQ(blanked.text, GetParam().source);
}

// Each of these could make a line of code look like a comment to this reader and not to a compiler.
INSTANTIATE_TEST_SUITE_P(
    Source, Doubts,
    ::testing::Values(Case{"a;\n/* b", "line 2: a comment without an end"}, Case{"/*/", "a comment without an end"},
                      Case{"f(\"b\n", "a string without an end"}, Case{"don't // c\n", "a character literal without"},
                      Case{"R\"(abc", "a raw string without an end"}, Case{"R\"a b(c)a b\"", "without its parenthesis"},
                      Case{"R\"aaaaaaaaaaaaaaaaa(c)aaaaaaaaaaaaaaaaa\"", "without its parenthesis"},
                      Case{"R\\\n\"(a)\"", "broken over lines"}, Case{"R\"(\n#endif\n)\"", "with a '#' in it"},
                      Case{"#if __has_include(</*>)\nlive();\n#endif // */", "a file name"},
                      Case{"#error it's 'a /* b\nlive(); /* */", "goes on after it"},
                      Case{"// a \\ \nlive();", "a backslash with space"}, Case{"// a\rlive();", "a carriage return"}));

// Splices flipped bytes, cut ends and doubled pieces into a source that has everything.
TEST(Blank, KeepsItsPromisesOnMutatedSources) {
  const std::string good =
      "#include <a>\nR\"d(x\n)d\" /* c */ 'a' \"s\\n\" // e\\\nf\nasm(\"mov\" : \"=r\"(a)); 1'0 u8R\"(y)\" \\\n #if "
      "0\n";
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same cases every time
  const std::string marks = "\"'\\/*\n()R#<> 1";
  for (int i = 0; i < 50'000; ++i) {
    std::string text = good;
    for (int edits = static_cast<int>(random() % 6); edits >= 0; --edits) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0) text.erase(at, random() % 4);
      text.insert(std::min(at, text.size()), 1, marks[random() % marks.size()]);
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}

TEST(Blank, TakesAnyBytes) {
  std::mt19937 random(8);  // NOLINT(cert-msc51-cpp)
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 40, ' ');
    for (char& c : text) c = static_cast<char>(random());
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}

}  // namespace
}  // namespace kagent::audit
