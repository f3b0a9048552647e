// Kernel facts from PTX, ptxas's log and the source, and the reader of such facts on the plan's side.
// Input: three texts, see next_part().
#include "harness/compile/ptx_facts.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/plan/kernels.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kagent;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string ptx(next_part(bytes));
  const std::string log(next_part(bytes));
  const std::string source(next_part(bytes));
  const nlohmann::json facts = compile::kernel_facts(ptx, log, source);
  for (const auto& [symbol, kernel] : facts.items()) {
    require(kernel["registers"] >= 0 && kernel["max_threads"] >= 0);
    (void)compile::plain_name(symbol);
  }
  const std::string text = facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  (void)plan::read_kernels(text);
  (void)plan::read_kernels(ptx);  // facts of a compiler that went wrong
  (void)plan::read_device(ptx);
  return 0;
}
