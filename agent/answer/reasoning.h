// Models served raw print their reasoning before the answer: "<think> ... </think>". Its drafts are not the answer.
#pragma once

#include <string_view>

namespace kagent::answer {

// How many bytes at the front of a reply are reasoning. The opening tag must begin the reply, or be missing where the
// closing tag stands on a line of its own (some chat templates swallow it). Reasoning that never ends counts as none:
// then the answer may be inside.
std::size_t reasoning_bytes(std::string_view raw);

}  // namespace kagent::answer
