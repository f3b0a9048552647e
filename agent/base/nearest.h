// "Did you mean ...?": the nearest right word to a mistyped one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kagent {

// The word of least edit distance (insert, delete, replace, swap of neighbours), if it is near enough to be a typing
// mistake: at most a third of the longer word's length, and at least one mistake is always allowed.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace kagent
