// From the text that NVRTC compiled to the text that a C++ compiler takes for the CPU. Text to text: nothing is run.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/compile/source.h"

namespace kagent::emulate {

struct NotEmulable {
  std::string reason;  // "inline PTX", "clusters", ...
  int line = 0;        // of the answer; 0: no one line
};

// `names`: the kernels that the plan launches, as it names them; a launch's kernel is the index there.
std::variant<std::string, NotEmulable> translate(const compile::Source& source, const std::vector<std::string>& names);

// The translated text without its #includes: what the preprocessor makes of it has the answer's own macros expanded and
// no other, so that a word pasted together of parts, or put in by _Pragma, stands there plainly.
std::string own_macros_only(const std::string& translated);
// The first of the C++ compiler's own words in such preprocessed text.
std::optional<NotEmulable> hidden_word(const std::string& expanded);

// What the C++ compiler's log says, when it refuses what NVRTC took.
NotEmulable reason_in(const std::string& log);

}  // namespace kagent::emulate
