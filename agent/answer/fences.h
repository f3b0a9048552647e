// Fenced code blocks of a Markdown text, after CommonMark's rules as far as replies need them.
// Source: https://spec.commonmark.org/0.31.2/#fenced-code-blocks (indentation is not limited here: blocks stand in
// lists).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kagent::answer {

struct Fenced {
  std::string tag;   // the info string's first word, in lower case: "cuda"
  std::string text;  // lines end in \n; the opening fence's indentation is removed; what is no text becomes U+FFFD
  int line = 0;      // 1-based line of the raw text on which `text` begins
  int replaced = 0;  // how many bytes were no text: control characters, invalid UTF-8
  bool closed = false;
};

// A fence inside a longer fence is text, as in CommonMark, and so is one that is indented four columns deeper (in a
// docstring). Unlike there, a fence with a language at the block's own level ends a block that its author forgot to
// close. An unclosed block reaches to the end and has closed = false. An outer block tagged markdown or md (a whole
// reply wrapped in one) is opened and its blocks are returned instead. `first_line` is the number of the first line.
std::vector<Fenced> fenced_blocks(std::string_view raw, int first_line = 1);

}  // namespace kagent::answer
