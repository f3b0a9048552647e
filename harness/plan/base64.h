// Base64 (RFC 4648, with padding, no white space, canonical).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kagent::plan {

std::optional<std::string> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

}  // namespace kagent::plan
