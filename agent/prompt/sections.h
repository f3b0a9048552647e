// Are a template's sections nested so that rendering it ends? The mustache library recurses once a level, and a list's
// section inside itself is rendered once for every pair, triple, ... of its items.
#pragma once

#include <string>
#include <string_view>

namespace kagent {

// One line on what is wrong: sections more than 16 deep, one inside itself, other delimiters than {{ }}. Empty:
// nothing. Whether sections are closed rightly is the library's to say.
std::string section_problem(std::string_view text);

}  // namespace kagent
