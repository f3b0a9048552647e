// Rule precision: which arithmetic the kernels do. Facts for the label, not for a verdict: the error against fp64
// decides.
#include <algorithm>
#include <array>

#include "harness/lint/rules.h"

namespace kagent::lint {
namespace {

constexpr std::array<std::string_view, 27> kFloatArithmetic = {
    "add", "sub", "mul", "fma", "mad",  "div", "rcp", "sqrt", "rsqrt", "sin",  "cos",     "lg2",      "ex2", "tanh",
    "min", "max", "abs", "neg", "atom", "red", "cvt", "mma",  "wgmma", "wmma", "tcgen05", "multimem", "cp"};

// The arithmetic of a type word, or "".
std::string_view word_of(std::string_view type) {
  if (type == "f16" || type == "f16x2") return "fp16";
  if (type == "bf16" || type == "bf16x2") return "bf16";
  if (type == "tf32" || type == "tf32x2") return "tf32";
  if (type.starts_with("e4m3") || type.starts_with("e5m2") || type.starts_with("e2m") || type.starts_with("e3m2") ||
      type.starts_with("ue8m0"))
    return "fp8";
  if (type == "f64") return "fp64";
  if (type == "f32" || type == "f32x2") return "fp32";
  return "";
}

bool integer_matrix(std::string_view type) {
  return type == "s8" || type == "u8" || type == "s4" || type == "u4" || type == "b1" || type == "i8";
}

template <typename Visit>
void each_part(std::string_view opcode, Visit visit) {
  for (std::size_t at = opcode.find('.'); at != std::string_view::npos;) {
    const std::size_t next = opcode.find('.', at + 1);
    visit(opcode.substr(at + 1, next == std::string_view::npos ? next : next - at - 1));
    at = next;
  }
}

// Says each word once, where it is met first.
struct Counted {
  const Function& f;
  const Statement& s;
  Findings& out;

  void operator()(std::string_view word) const {
    if (word.empty() || !out.arithmetic(word) || word == "fp32") return;
    out.add("precision", Level::kNote, f, s, "computes in " + std::string(word) + ": " + shown(s.opcode));
  }
};

void matrix(const Statement& s, const Counted& count) {
  bool narrow = false;
  each_part(s.opcode, [&](std::string_view part) {
    if (integer_matrix(part)) {
      count("int8");
      narrow = true;
    } else if (const std::string_view word = word_of(part); !word.empty() && word != "fp32") {
      count(word);
      narrow = true;
    }
  });
  if (s.base() == "wmma" && !narrow && s.opcode.starts_with("wmma.mma")) count("fp16");  // .f32.f32 of halves
  if (s.base() == "tcgen05" && has_part(s.opcode, "kind") && has_part(s.opcode, "f16")) count("fp16");
}

// The type converted to comes first; a conversion from fp8 says that data were kept in it.
void conversion(const Statement& s, const Counted& count) {
  bool first = true;
  each_part(s.opcode, [&](std::string_view part) {
    const std::string_view word = word_of(part);
    if (!word.empty() && word != "fp32" && (first || word == "fp8")) count(word);
    const bool type =
        !word.empty() || (part.size() > 1 && (part[0] == 's' || part[0] == 'u') && part[1] >= '1' && part[1] <= '9');
    first = first && !type;
  });
}

void masks(const Module& module, const Function& f, const Statement& s, Findings& out) {
  const auto is = [&](std::initializer_list<std::string_view> values) {
    for (std::uint32_t k = 1; k < s.count; ++k) {
      const std::string_view text = module.operands_of(s)[k].text;
      if (std::find(values.begin(), values.end(), text.substr(0, text.find_last_not_of(" \n") + 1)) != values.end())
        return true;
    }
    return false;
  };
  if (s.opcode == "and.b32" && is({"-65536", "4294901760", "0xffff0000", "0xFFFF0000", "0xffff0000U", "0xFFFF0000U"}))
    out.add("precision", Level::kNote, f, s, "keeps the upper 16 bits of words: may be bf16 by masking");
  if (s.opcode == "and.b32" && is({"-8192", "4294959104", "0xffffe000", "0xFFFFE000", "0xffffe000U", "0xFFFFE000U"}))
    out.add("precision", Level::kNote, f, s, "drops the lower 13 bits of words: may be tf32 by masking");
  if (s.base() == "prmt" && is({"30258", "0x7632", "0x7632U"}))
    out.add("precision", Level::kNote, f, s, "packs the upper halves of two words: may be bf16 by truncation");
}

}  // namespace

void precision(const Module& module, Findings& out) {
  each_statement(module, [&](const Function& f, const Statement& s, std::size_t) {
    const std::string_view base = s.base();
    const Counted count{f, s, out};
    masks(module, f, s, out);
    if (base == "dp4a" || base == "dp2a") return count("int8");
    if (std::find(kFloatArithmetic.begin(), kFloatArithmetic.end(), base) == kFloatArithmetic.end()) return;
    if (base == "cvt") return conversion(s, count);
    if (base == "wmma" && !s.opcode.starts_with("wmma.mma")) return;
    if (base == "cp" && !s.opcode.starts_with("cp.reduce")) return;
    if (base == "mma" || base == "wgmma" || base == "wmma" || base == "tcgen05") return matrix(s, count);
    each_part(s.opcode, [&](std::string_view part) { count(word_of(part)); });
  });
}

}  // namespace kagent::lint
