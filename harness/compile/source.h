// From an answer's CUDA block to the text that is compiled, kept and shown.
//
// One text: a prefix of the source's own leading #includes in canonical order (so that NVRTC's precompiled headers fit
// again), our prelude, then the block with its own line numbers under the name answer.cu. What would make the text mean
// another program elsewhere is refused: __CUDACC_RTC__,
// __DATE__, __TIME__, __TIMESTAMP__. #line directives of the answer become comments: errors name its true lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kagent::compile {

inline constexpr const char* kAnswerName = "answer.cu";
inline constexpr std::size_t kMaxSourceBytes = std::size_t{1} << 20;

struct SourceError {
  int line = 0;  // 1-based in the answer
  std::string message;
};

struct Source {
  std::string text;                  // what NVRTC gets
  std::vector<std::string> headers;  // the prefix's headers, canonical
  std::optional<SourceError> error;
};

Source prepare_source(const std::string& answer);

// The first two lines of a text with this prefix: what a parent compiles to warm the precompiled header.
std::string prefix_of(const std::vector<std::string>& headers);

}  // namespace kagent::compile
