// Finds the two blocks of an answer in a model's raw reply (docs/answer_format.md).
//
// Fences are ``` or ~~~ of any length from three, indented or not. The CUDA block is tagged cuda or cu, or tagged as
// C++ (or not at all) and contains __global__; the host program is tagged python or py, or not at all and defines
// ModelNew. Of several versions the last of each kind counts: models correct themselves. Reasoning before the answer
// does not count. A reply that ends inside a block was cut off, whatever stands before. The reply is hostile input: any
// bytes, any length; nothing here fails but by a NoAnswer.
#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace kagent::answer {

inline constexpr std::size_t kMaxBlockBytes = std::size_t{1} << 20;

struct Answer {
  std::string cuda;
  std::string python;
  int cuda_line = 0;  // 1-based line of the raw reply on which the block's text begins
  int python_line = 0;
  int replaced_bytes = 0;  // control characters and invalid UTF-8 in the two blocks, now U+FFFD
};

struct NoAnswer {
  std::string kind;     // no_blocks, no_cuda, no_python, cut_off, too_large
  std::string message;  // one line that says what to send
};

using Found = std::variant<Answer, NoAnswer>;

Found find(std::string_view raw);

}  // namespace kagent::answer
