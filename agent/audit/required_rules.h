// The rules whose outcome every accepted kernel's verdict must record (docs/audit.md).
#pragma once

#include <array>
#include <string_view>

namespace kagent::audit {

inline constexpr std::array kRequiredRules = {
    std::string_view("official_check"), std::string_view("state"), std::string_view("inputs_unchanged"),
    std::string_view("module_state"),   std::string_view("timer"), std::string_view("special_register"),
    std::string_view("extern_call"),
};

}  // namespace kagent::audit
