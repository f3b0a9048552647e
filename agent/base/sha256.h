// SHA-256 by OpenSSL.
#pragma once

#include <string>
#include <string_view>

#include "agent/base/result.h"

namespace kagent {

// Lower-case hexadecimal, 64 characters.
std::string sha256_hex(std::string_view bytes);

// Of a file's bytes, however large. Errors: kIo.
Result<std::string> sha256_of_file(const std::string& path);

}  // namespace kagent
