// The reader of model replies.
#include "agent/answer/answer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "tests/fuzz/require.h"

namespace {

void check_block(const std::string& text, int line, std::string_view raw) {
  require(text.empty() || text.back() == '\n');
  require(text.size() <= 3 * raw.size() + 1);  // one byte becomes at most the three of U+FFFD; a last line gets its end
  require(text.find('\0') == std::string::npos && text.find('\r') == std::string::npos);
  require(line >= 2 && line <= std::count(raw.begin(), raw.end(), '\n') + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kagent::answer;
  const std::string_view raw(reinterpret_cast<const char*>(data), size);
  const Found found = find(raw);
  if (const auto* none = std::get_if<NoAnswer>(&found)) {
    require(!none->kind.empty() && !none->message.empty());
    require(none->message.find('\n') == std::string::npos);
    return 0;
  }
  const auto& answer = std::get<Answer>(found);
  check_block(answer.cuda, answer.cuda_line, raw);
  check_block(answer.python, answer.python_line, raw);
  return 0;
}
