#include "agent/base/printable.h"

#include <gtest/gtest.h>

namespace kagent {
namespace {

TEST(Printable, LeavesTextAlone) {
  for (const char* text : {"", "x[3] += 1.5f;", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharactersOfBothKindsBecomeSpaces) {
  EXPECT_EQ(printable("\x1b[2J\x1b[Hok\n\t\x7f"), " [2J [Hok   ");
  EXPECT_EQ(printable("a\xC2\x9B\x32Jb"), "a 2Jb");
}

TEST(Printable, NothingTurnsTheDirectionOrTheLine) {
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b\xE2\x81\xA6"
                      "c\xE2\x80\xA8"
                      "d"),
            "a b c d");
}

TEST(Printable, WhatIsNotUtf8BecomesQuestionMarks) {
  EXPECT_EQ(printable("\xff\xC3"), "??");
  EXPECT_EQ(printable("\xC0\xAF"), "??");            // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "???");       // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "????");  // beyond Unicode
}

TEST(Printable, ANameThatIsNotPlainStandsInQuotes) {
  EXPECT_EQ(name_text("runs/3-4-claude"), "runs/3-4-claude");
  EXPECT_EQ(name_text("my run"), "\"my run\"");
  EXPECT_EQ(name_text("a\x1b[31m\n"), "\"a [31m \"");
  EXPECT_EQ(name_text("\xC3\xA4"), "\"\xC3\xA4\"");
  EXPECT_EQ(name_text(""), "\"\"");
}

TEST(Printable, LinesStayLines) { EXPECT_EQ(printable_lines("a\x1b\n\tb\n\nc"), "a \n b\n\nc"); }

}  // namespace
}  // namespace kagent
