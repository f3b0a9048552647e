// Logs of NVRTC and of the CPU's compiler, which quote the answer.
#include <cstdint>
#include <string>

#include "harness/compile/errors.h"
#include "harness/emulate/translate.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kagent;
  const std::string log(reinterpret_cast<const char*>(data), size);
  const nlohmann::json errors = compile::errors_in(log);
  require(errors.size() <= 50);
  for (const nlohmann::json& error : errors) {
    const auto& message = error["message"].get_ref<const std::string&>();
    for (const char c : message) require(c < 0 || c >= ' ');
    require(error["line"].is_null() || error["line"] >= 0);
  }
  (void)errors.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const emulate::NotEmulable why = emulate::reason_in(log);
  require(!why.reason.empty() && why.reason.size() < 400 && why.line >= 0);
  return 0;
}
