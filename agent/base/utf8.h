// Text from outside, a code point at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kagent {

// Bytes of the code point that begins at text[at], 0 when it is not UTF-8 (`code` then means nothing). The Unicode
// Standard, table 3-7. Precondition: at < text.size().
std::size_t decode_utf8(std::string_view text, std::size_t at, std::uint32_t& code);

}  // namespace kagent
