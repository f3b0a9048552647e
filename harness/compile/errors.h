// A compiler log as errors with the answer's own lines.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kagent::compile {

// [{"line": 12 or null, "message"}], at most 50; control characters are gone. A message about another file than the
// answer begins with that file and has no line.
nlohmann::json errors_in(const std::string& log);

}  // namespace kagent::compile
