// Which branches of an answer's conditionals (#if, #ifdef, ...) NVRTC takes: the emulation must run the same program,
// whatever its own compiler would make of them.
//
// NVRTC itself is asked, by a text of the answer's directives alone, in which each branch that is taken leaves a
// kernel.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "harness/compile/source.h"

namespace kagent::emulate {

struct Question {
  compile::Source source;  // for NVRTC
  std::string mark;        // what its kernels' names begin with; their numbers follow
};

// None: the answer has no conditional. `source.text` without raw strings.
std::optional<Question> question_of(const compile::Source& source);

// The same source with only those branches, of the numbers in `taken`; conditionals become empty lines. None: the reply
// makes no sense.
std::optional<compile::Source> settled(const compile::Source& source, const std::set<std::string>& kernels,
                                       const std::string& mark);

}  // namespace kagent::emulate
