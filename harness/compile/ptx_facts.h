// Facts of every kernel of a compiled source: parameters from PTX, types of pointers from the mangled name or, for
// extern "C", from the source's own text, resources from ptxas's report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kagent::compile {

// {"symbol": kernel facts} as docs/protocol.md has them, by symbol in the cubin. `log` is ptxas -v's; `source` the text
// compiled.
nlohmann::json kernel_facts(const std::string& ptx, const std::string& log, const std::string& source);

// "bn<0>" for _Z2bnILi0EEvPKf; the symbol itself for extern "C".
std::string plain_name(const std::string& symbol);

}  // namespace kagent::compile
