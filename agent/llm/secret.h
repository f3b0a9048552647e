// Keys: read from the environment once, taken out of it, and removed from every text that leaves this folder.
#pragma once

#include <string>
#include <string_view>

#include "agent/base/result.h"

namespace kagent::llm {

// The key in environment variable `name`, or "" if there is none. The first call blanks the variable, so that neither a
// child process nor /proc/<pid>/environ shows it; later calls remember it. Not while other threads read the
// environment. Errors: kUsage (a control character or a space inside: it would break the header).
Result<std::string> take_key(const std::string& name);

// `text` with every occurrence of the key, also percent-encoded or of its longer halves, replaced by "[key]".
// A key of fewer than 8 characters ("EMPTY", "none") is a placeholder and no secret.
std::string without_key(std::string text, std::string_view key);

// A server's text as one line for people: no control characters, at most `most` bytes, cut at a character's end.
std::string one_line(std::string_view text, std::size_t most = 300);

}  // namespace kagent::llm
