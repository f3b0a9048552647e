// An answer's CUDA block on its way to NVRTC.
#include "harness/compile/source.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kagent::compile;
  const std::string answer(reinterpret_cast<const char*>(data), size);
  const Source source = prepare_source(answer);
  if (source.error) {
    require(source.error->line >= 1 && !source.error->message.empty());
    return 0;
  }
  const std::string head = prefix_of(source.headers) + "#line 1 \"" + kAnswerName + "\"\n";
  require(source.text.starts_with(head));
  require(source.text.find('\0') == std::string::npos);
  for (const std::string& header : source.headers) {  // these are compiled outside the seal
    require(header.find("..") == std::string::npos && header.front() != '/' && header.size() < 200);
  }
  // Lines stay lines: the answer's, whose last may lack its end.
  const auto lines =
      std::count(answer.begin(), answer.end(), '\n') + (!answer.empty() && answer.back() != '\n' ? 1 : 0);
  const auto body = std::count(source.text.begin() + static_cast<std::ptrdiff_t>(head.size()), source.text.end(), '\n');
  require(body == lines || body + 1 == lines);  // a last line of control characters only is none
  return 0;
}
