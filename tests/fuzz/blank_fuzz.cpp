// Fuzz entry for the blanking of comments and strings. With clang: cmake -DCMAKE_CXX_COMPILER=clang++ -DKAGENT_FUZZ=ON,
// then bin/fuzz_blank. In every build it is part of the unit tests, fed with mutated sources (blank_test.cpp).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "agent/audit/blank.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using kagent::audit::Blanked;
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const Blanked blanked = kagent::audit::blank(source);
  require(blanked.text.size() == size);
  for (std::size_t i = 0; i < size; ++i)
    require(blanked.text[i] == source[i] || (blanked.text[i] == ' ' && source[i] != '\n'));
  if (!blanked.unsure.empty()) {
    require(blanked.text == source);
    return 0;
  }
  // What is left means the same: a second pass finds nothing more to blank.
  const Blanked again = kagent::audit::blank(blanked.text);
  require(again.unsure.empty() && again.text == blanked.text);
  return 0;
}
