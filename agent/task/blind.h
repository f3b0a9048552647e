// The blind view of a task file: what a language model may see where inputs, constructor arguments and sizes are
// hidden.
#pragma once

#include <string>
#include <string_view>

namespace kagent {

// Keeps imports, classes and the functions defined before `get_inputs` or `get_init_inputs`; drops those two, every
// other function after them, and all else at the top level: constants, comments, strings, `if` and `try` blocks.
// Scans by indentation, aware of strings and brackets that span lines; never fails, whatever the text.
std::string blind_view(std::string_view source);

}  // namespace kagent
