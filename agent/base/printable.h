// Text from outside (a model, a compiler, a log file) as one line that a terminal or a prompt shows as it is.
#pragma once

#include <string>
#include <string_view>

namespace kagent {

// Control characters (C0, DEL, C1), line and paragraph separators and characters that change the direction of writing
// become spaces; bytes that are not UTF-8 become '?'.
std::string printable(std::string_view text);

// The same line by line: line feeds stay, tabs become spaces.
std::string printable_lines(std::string_view text);

// A name from outside inside a message: as it is where it is plain (printable ASCII without blanks and quotes), else
// printable and in double quotes.
std::string name_text(std::string_view name);

}  // namespace kagent
