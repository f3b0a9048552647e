// Small readers of text: base64, printable text, JSON of any shape, the blind view of a task.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "agent/base/json_text.h"
#include "agent/base/printable.h"
#include "agent/task/blind.h"
#include "harness/plan/base64.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kagent;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);

  require(plan::decode_base64(plan::encode_base64(bytes)) == std::string(bytes));
  if (const auto decoded = plan::decode_base64(bytes)) require(plan::encode_base64(*decoded) == bytes);

  const std::string line = printable(bytes);
  require(std::all_of(line.begin(), line.end(), [](char c) { return c < 0 || (c >= ' ' && c != 127); }));
  (void)nlohmann::json(line).dump();  // throws if it is not UTF-8
  require(printable(line) == line);
  const std::string lines = printable_lines(bytes);
  require(std::count(lines.begin(), lines.end(), '\n') == std::count(bytes.begin(), bytes.end(), '\n'));

  if (const auto json = parse_json(bytes)) {
    const nlohmann::json copy = json.value();
    const auto again = parse_json(copy.dump());
    require(again.ok());
    (void)integer_or(copy, "a", 0);
  }
  const std::string seen = blind_view(bytes);
  require(seen.size() <= size + 1);
  return 0;
}
