// What of a C++ text is code: without comments, string contents and line splices. Positions and lines stay.
#pragma once

#include <string>

namespace kagent::compile {

// Comments, and what strings contain, as blanks of the same length. Of text with its lines joined, and right up to the
// first raw string.
std::string blanked(const std::string& text);

// Each comment as one blank; the line breaks of one follow the next line break of the code, so that a line of code (a
// directive) stays one. Of the same.
std::string without_comments(const std::string& text);

// Lines that end in a backslash become one, and as many empty ones follow it. Where blanks follow the backslash
// compilers differ: then it joins lines of code, and in a comment it is left out.
std::string joined_lines(const std::string& text);

// Of blanked text: R"( and its like.
bool has_raw_string(const std::string& code);

}  // namespace kagent::compile
