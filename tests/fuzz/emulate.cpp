// The translation of an answer's CUDA block for the CPU, inline PTX included.
#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include "harness/emulate/branches.h"
#include "harness/emulate/translate.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kagent;
  const compile::Source source = compile::prepare_source(std::string(reinterpret_cast<const char*>(data), size));
  if (source.error) return 0;
  if (const auto question = emulate::question_of(source)) {
    require(question->source.text.size() < 64 * (size + 4096));
    const auto settled = emulate::settled(source, {question->mark + "all", question->mark + "0"}, question->mark);
    require(!settled || std::count(settled->text.begin(), settled->text.end(), '\n') >=
                            std::count(source.text.begin(), source.text.end(), '\n'));
  }
  if (const auto no = emulate::hidden_word(emulate::own_macros_only(source.text))) require(!no->reason.empty());
  const auto made = emulate::translate(source, {"k<0>", "k"});
  if (const auto* no = std::get_if<emulate::NotEmulable>(&made)) {
    require(!no->reason.empty() && no->line >= 0);
    require(no->line <= 1 + std::count(source.text.begin(), source.text.end(), '\n'));
    return 0;
  }
  require(std::get<std::string>(made).size() < 64 * (size + 4096));
  return 0;
}
