// SHA-256 by OpenSSL.
#pragma once

#include <string>
#include <string_view>

namespace kagent {

// Lower-case hexadecimal, 64 characters.
std::string sha256_hex(std::string_view bytes);

}  // namespace kagent
