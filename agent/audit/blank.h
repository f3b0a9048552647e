// CUDA C++ without its comments and without what its strings say: a judge reads code, not the author's words about it.
//
// Bytes become spaces and nothing moves: the result is as long as the source, with the same lines. A comment goes
// whole; of a string, raw string or character literal the quotes (and a raw string's delimiter) stay. The strings of an
// asm statement stay as they are, for they are code. So do the file names of #include and __has_include.
//
// A hidden line of code would be worse than a visible comment. So where the reader here and a compiler could disagree
// on what is a comment, nothing is blanked and `unsure` says why.
#pragma once

#include <string>
#include <string_view>

namespace kagent::audit {

struct Blanked {
  std::string text;
  std::string unsure;  // empty: comments and strings are gone; else `text` is the source as it was, and this says why
};

// Any bytes; never fails. Trigraphs are none, as in C++17.
Blanked blank(std::string_view source);

}  // namespace kagent::audit
