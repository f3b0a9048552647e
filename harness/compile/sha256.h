// SHA-256 by OpenSSL.
#pragma once

#include <string>
#include <string_view>

namespace kagent::compile {

std::string sha256_hex(std::string_view bytes);

}  // namespace kagent::compile
