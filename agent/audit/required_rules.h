// The rules whose outcome every accepted kernel's verdict must record: all that the judge has (docs/audit.md).
#pragma once

#include <string_view>
#include <vector>

#include "agent/judge/rules.h"

namespace kagent::audit {

inline std::vector<std::string_view> required_rules() {
  std::vector<std::string_view> ids;
  for (const Rule& rule : all_rules()) ids.push_back(rule.id);
  return ids;
}

}  // namespace kagent::audit
