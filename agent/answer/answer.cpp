#include "agent/answer/answer.h"

#include <algorithm>
#include <vector>

#include "agent/answer/fences.h"
#include "agent/answer/reasoning.h"

namespace kagent::answer {
namespace {

constexpr const char* kWhatToSend = "reply with one ```cuda block and one ```python block, both complete";

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* w) { return word == w; });
}

bool contains(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }

bool is_cuda(const Fenced& block) {
  if (is_one_of(block.tag, {"cuda", "cu"})) return true;
  return is_one_of(block.tag, {"", "c++", "cpp", "cxx", "c"}) && contains(block.text, "__global__");
}

bool is_python(const Fenced& block) {
  if (is_one_of(block.tag, {"python", "py", "python3"})) return true;
  return block.tag.empty() && !contains(block.text, "__global__") && contains(block.text, "class ModelNew");
}

// The last host program that defines ModelNew, else the last one: a closing usage example is not the answer.
const Fenced* last_python(const std::vector<Fenced>& blocks) {
  const Fenced* any = nullptr;
  const Fenced* with_model = nullptr;
  for (const Fenced& block : blocks) {
    if (!is_python(block)) continue;
    any = &block;
    if (contains(block.text, "ModelNew")) with_model = &block;
  }
  return with_model != nullptr ? with_model : any;
}

const Fenced* last_cuda(const std::vector<Fenced>& blocks) {
  const Fenced* any = nullptr;
  const Fenced* with_kernel = nullptr;
  for (const Fenced& block : blocks) {
    if (!is_cuda(block)) continue;
    any = &block;
    if (contains(block.text, "__global__")) with_kernel = &block;
  }
  return with_kernel != nullptr ? with_kernel : any;
}

NoAnswer cut_off(const char* which) {
  return {"cut_off", std::string("the reply ends inside its ") + which +
                         " block, before the closing fence: it was cut off; send a shorter answer, or raise the token "
                         "limit"};
}

}  // namespace

Found find(std::string_view raw) {
  const std::size_t skipped = reasoning_bytes(raw);
  const auto lines_skipped = std::count(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(skipped), '\n');
  const std::vector<Fenced> blocks = fenced_blocks(raw.substr(skipped), static_cast<int>(lines_skipped) + 1);
  if (!blocks.empty() && !blocks.back().closed) {
    if (is_cuda(blocks.back())) return cut_off("CUDA");
    if (is_python(blocks.back())) return cut_off("python");
  }
  const Fenced* cuda = last_cuda(blocks);
  const Fenced* python = last_python(blocks);
  if (raw.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return NoAnswer{"no_blocks", std::string("the reply is empty: ") + kWhatToSend};
  if (cuda == nullptr && python == nullptr)
    return NoAnswer{"no_blocks", std::string("no code blocks found: ") + kWhatToSend};
  if (cuda == nullptr) return NoAnswer{"no_cuda", std::string("no CUDA block found: ") + kWhatToSend};
  if (python == nullptr) return NoAnswer{"no_python", std::string("no python block found: ") + kWhatToSend};
  if (cuda->text.size() > kMaxBlockBytes || python->text.size() > kMaxBlockBytes) {
    return NoAnswer{"too_large", "a block is larger than 1 MiB: send less code"};
  }
  return Answer{cuda->text, python->text, cuda->line, python->line, cuda->replaced + python->replaced};
}

}  // namespace kagent::answer
