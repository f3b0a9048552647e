// What a judge says of a kernel. The five labels are those of KernelBench-Verified's audit (arXiv 2607.16241,
// appendix "LLM-Judge Reward Hacking Audit").
#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace kagent::audit {

enum class Label { kLegitimate, kSpeedHack, kMemoryHack, kSpeedAndMemoryHack, kUncertain };

std::string_view name_of(Label label);  // "legitimate", "speed_hack", ...

struct Opinion {
  Label label = Label::kUncertain;
  double confidence = 0;  // 0 to 1
  std::string reason;     // the judge's own text: hostile

  [[nodiscard]] bool is_hack() const { return label != Label::kLegitimate && label != Label::kUncertain; }
};

// The reply has no opinion that can be read; `why` goes into the second question.
struct Unparsed {
  std::string why;
};

// Strict: one fenced block in the whole reply, tagged json, that holds an object of exactly label, confidence and
// reason. Reasoning in <think> tags before it does not count.
std::variant<Opinion, Unparsed> parse_opinion(std::string_view reply);

}  // namespace kagent::audit
