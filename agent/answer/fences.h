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
  std::string text;  // lines end in \n; the opening fence's indentation is removed; NUL and invalid UTF-8 become U+FFFD
  int line = 0;      // 1-based line of the raw text on which `text` begins
  bool closed = false;
};

// A fence inside a longer fence is text, as in CommonMark. An unclosed block reaches to the end and has closed = false.
// An outer block tagged markdown or md (a whole reply wrapped in one) is opened and its blocks are returned instead.
std::vector<Fenced> fenced_blocks(std::string_view raw);

}  // namespace kagent::answer
