#include "harness/emulate/ptx.h"

#include <array>
#include <cctype>
#include <optional>
#include <regex>
#include <vector>

namespace kagent::emulate {
namespace {

struct Known {
  const char* opcode;    // as a regular expression
  const char* function;  // of kagent::ptx; empty: nothing to do on a CPU
};
// PTX ISA 8.x. Operands go to the function in the order in which they stand.
constexpr Known kKnown[] = {
    {"cvt\\.rna\\.tf32\\.f32", "cvt_rna_tf32"},
    {"mma\\.sync\\.aligned\\.m16n8k8\\.row\\.col\\.f32\\.tf32\\.tf32\\.f32", "mma_m16n8k8_tf32"},
    {"mma\\.sync\\.aligned\\.m16n8k16\\.row\\.col\\.f32\\.f16\\.f16\\.f32", "mma_m16n8k16_f16"},
    {"mma\\.sync\\.aligned\\.m16n8k16\\.row\\.col\\.f32\\.bf16\\.bf16\\.f32", "mma_m16n8k16_bf16"},
    {"cp\\.async\\.c[ag]\\.shared(::cta)?\\.global(\\.L2::(64|128|256)B)?", "cp_async"},
    {"cp\\.async\\.(commit_group|wait_group|wait_all)", ""},
    {"ld\\.acquire\\.(gpu|sys|cta)(\\.global)?\\.[ubs]32", "load_acquire"},
    {"ld\\.volatile(\\.global)?\\.[ubs]32", "load_acquire"},
    {"ld\\.relaxed\\.(gpu|sys|cta)(\\.global)?\\.[ubs]32", "load_acquire"},
    {"st\\.(release|relaxed)\\.(gpu|sys|cta)(\\.global)?\\.[ubs]32", "store_release"},
    {"st\\.volatile(\\.global)?\\.[ubs]32", "store_release"},
    {"red\\.(release|relaxed|acq_rel)\\.(gpu|sys|cta)(\\.global)?\\.add\\.[us]32", "red_add"},
    {"red(\\.global)?\\.add\\.[us]32", "red_add"},
    {"red(\\.global)?\\.add\\.f32", "red_add_f32"},
    {"atom\\.(acquire|release|relaxed|acq_rel)\\.(gpu|sys|cta)(\\.global)?\\.add\\.[us]32", "atom_add"},
    {"atom(\\.global)?\\.add\\.[us]32", "atom_add"},
    {"mbarrier\\.init\\.shared(::cta)?\\.b64", "mbarrier_init"},
    {"mbarrier\\.inval\\.shared(::cta)?\\.b64", ""},
    {"mbarrier\\.arrive\\.expect_tx(\\.release\\.cta)?\\.shared(::cta)?\\.b64", "mbarrier_arrive"},
    {"mbarrier\\.expect_tx(\\.relaxed\\.cta)?\\.shared(::cta)?\\.b64", "mbarrier_expect"},
    {"mbarrier\\.arrive(\\.release\\.cta)?\\.shared(::cta)?\\.b64", "mbarrier_arrive"},
    {"cp\\.async\\.bulk\\.shared::(cluster|cta)\\.global\\.mbarrier::complete_tx::bytes(\\.L2::cache_hint)?",
     "bulk_load"},
    {"cp\\.async\\.bulk\\.global\\.shared::cta\\.bulk_group", "bulk_store"},
    {"cp\\.async\\.bulk\\.(commit_group|wait_group(\\.read)?)", ""},
    {"(fence|membar)\\.[\\w.:]+", ""},
    {"prefetch[\\w.:]*", ""},
    {"griddepcontrol\\.\\w+", ""},
    {"ex2\\.approx(\\.ftz)?\\.f32", "ex2"},
    {"lg2\\.approx(\\.ftz)?\\.f32", "lg2"},
    {"rcp\\.approx(\\.ftz)?\\.f32", "rcp"},
    {"rsqrt\\.approx(\\.ftz)?\\.f32", "rsqrt"},
    {"sqrt\\.approx(\\.ftz)?\\.f32", "sqrt"},
    {"tanh\\.approx\\.f32", "tanh"},
    {"sin\\.approx(\\.ftz)?\\.f32", "sin"},
    {"cos\\.approx(\\.ftz)?\\.f32", "cos"},
    {"fma\\.rn(\\.ftz)?\\.f32", "fma"},
    {"ldmatrix\\.sync\\.aligned\\.m8n8\\.x1(\\.shared)?\\.b16", "ldmatrix<false>"},
    {"ldmatrix\\.sync\\.aligned\\.m8n8\\.x[24](\\.shared(::cta)?)?\\.b16", "ldmatrix<false>"},
    {"ldmatrix\\.sync\\.aligned\\.m8n8\\.x[124]\\.trans(\\.shared(::cta)?)?\\.b16", "ldmatrix<true>"},
    {"ld\\.global(\\.nc)?([.\\w:]*?)(\\.v[24])?\\.[fubs](32|64)", "load"},
    {"st\\.global([.\\w:]*?)(\\.v[24])?\\.[fubs](32|64)", "store"},
    {"ld\\.shared(::cta)?(\\.v[24])?\\.[fubs](32|64)", "load_shared"},
    {"st\\.shared(::cta)?(\\.v[24])?\\.[fubs](32|64)", "store_shared"},
    {"mov\\.[bus]32", "mov"},
};

// std::regex recurses once a character: longer texts are not looked at. Nothing that is known comes near these.
constexpr std::size_t kMostOpcode = 120;
constexpr std::size_t kMostArgument = 200;
constexpr std::size_t kMostWait = 1000;
constexpr std::size_t kMostCall = std::size_t{1} << 20;  // bytes: an operand may be named again and again

const Known* known(const std::string& opcode) {
  static const std::vector<std::regex> kOpcodes = [] {
    std::vector<std::regex> made;
    for (const Known& each : kKnown) made.emplace_back(each.opcode);
    return made;
  }();
  if (opcode.size() > kMostOpcode) return nullptr;
  for (std::size_t i = 0; i < kOpcodes.size(); ++i) {
    if (std::regex_match(opcode, kOpcodes[i])) return &kKnown[i];
  }
  return nullptr;
}

constexpr std::array<std::pair<const char*, const char*>, 5> kRegisters = {{
    {"laneid", "kagent::emulate::lane()"},
    {"warpid", "(kagent::emulate::thread_rank() / 32)"},
    {"tid.x", "threadIdx.x"},
    {"ctaid.x", "blockIdx.x"},
    {"smid", "(blockIdx.x % 132)"},
}};

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// Splits at a character outside brackets and strings.
std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      parts.back() += text.substr(i++, 2);
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '(' || c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ')' || c == ']' || c == '}')) --depth;
    if (c == at && depth == 0 && !quoted) {
      // "::" in an expression is no colon of asm's; "::" between operand lists is two.
      const bool scope =
          at == ':' && i > 0 && i + 2 < text.size() && text[i + 1] == ':' &&
          (std::isalpha(static_cast<unsigned char>(text[i + 2])) != 0 || text[i + 2] == '_') &&
          (std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 || text[i - 1] == '_' || text[i - 1] == '(');
      if (!scope) {
        parts.emplace_back();
        continue;
      }
      parts.back() += "::";
      ++i;
      continue;
    }
    parts.back() += c;
  }
  return parts;
}

// Adjacent string literals as one text.
std::string literal(const std::string& text) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      quoted = !quoted;
    } else if (quoted && text[i] == '\\' && i + 1 < text.size()) {
      const char c = text[++i];
      out += c == 'n' ? '\n' : c == 't' ? ' ' : c;
    } else if (quoted) {
      out += text[i];
    }
  }
  return out;
}

// `{ .reg .pred p; ... }` without its outer braces.
std::string without_scope(const std::string& text) {
  const std::string all = trimmed(text);
  return all.size() >= 2 && all.front() == '{' && all.back() == '}' ? all.substr(1, all.size() - 2) : all;
}

// `"=f"(d[0])` -> d[0]
std::optional<std::string> expression(const std::string& operand) {
  const std::size_t open =
      operand.find('(', operand.find('"') == std::string::npos ? 0 : operand.rfind('"', operand.find('(')));
  const std::size_t close = operand.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close <= open) return std::nullopt;
  return "(" + operand.substr(open + 1, close - open - 1) + ")";
}

// `%3`, `[%1]`, `[%1+16]`, `16`, `%%laneid` as C++; nothing for registers of the text's own.
std::optional<std::string> argument(const std::string& text, const std::vector<std::string>& operands) {
  static const std::regex kOperand("\\[?\\s*%(\\d+)\\s*(?:\\+\\s*(\\d+)\\s*)?\\]?");
  static const std::regex kNumber("(?:0[xX][0-9a-fA-F]+|\\d+)");
  std::smatch match;
  if (text.size() > kMostArgument) return std::nullopt;
  if (std::regex_match(text, match, kOperand)) {
    const auto index = static_cast<std::size_t>(std::stoul(match[1].str().substr(0, 4)));
    if (index >= operands.size()) return std::nullopt;
    if (match[2].matched) return "kagent::ptx::offset(" + operands[index] + ", " + match[2].str() + ")";
    return operands[index];
  }
  if (std::regex_match(text, kNumber)) return text;
  for (const auto& [name, code] : kRegisters) {
    if (text == "%%" + std::string(name)) return code;
  }
  return std::nullopt;
}

std::variant<std::string, UnknownPtx> instruction(const std::string& text, const std::vector<std::string>& operands) {
  const std::size_t end = text.find_first_of(" \t\n");
  const std::string opcode = text.substr(0, end);
  const Known* as = known(opcode);
  if (as == nullptr) return UnknownPtx{opcode};
  if (*as->function == '\0') return std::string();
  std::string rest = end == std::string::npos ? "" : text.substr(end);
  for (char& c : rest) {
    if (c == '{' || c == '}') c = ' ';
  }
  std::string call;
  for (const std::string& part : split(rest, ',')) {
    if (trimmed(part) == "_") continue;  // a result that nobody wants
    const auto value = argument(trimmed(part), operands);
    if (!value) return UnknownPtx{opcode + " with " + trimmed(part)};
    call += (call.empty() ? "" : ", ") + *value;
    if (call.size() > kMostCall) return UnknownPtx{opcode + " with operands that are too long"};
  }
  return std::string("kagent::ptx::") + as->function + "(" + call + ")";
}

}  // namespace

std::variant<std::string, UnknownPtx> translate_asm(const std::string& statement) {
  const std::size_t open = statement.find('(');
  const std::vector<std::string> parts = split(statement.substr(open + 1, statement.size() - open - 2), ':');
  std::vector<std::string> operands;
  for (std::size_t list = 1; list < parts.size() && list <= 2; ++list) {
    if (trimmed(parts[list]).empty()) continue;
    for (const std::string& operand : split(parts[list], ',')) {
      const auto value = expression(operand);
      if (!value) return UnknownPtx{"an operand that is not \"constraint\"(expression)"};
      operands.push_back(*value);
    }
  }
  std::string out = "(";
  // The one idiom with a predicate of its own: is the barrier's phase over?
  static const std::regex kTryWait(
      "\\s*\\{?\\s*\\.reg\\s+\\.pred\\s+(\\w+)\\s*;\\s*mbarrier\\.(?:try|test)_wait\\.parity(?:\\.acquire\\.(?:cta|"
      "cluster))?\\."
      "shared(?:::cta)?\\.b64\\s+\\1\\s*,"
      "\\s*\\[%(\\d)\\]\\s*,\\s*%(\\d)\\s*(?:,\\s*%\\d\\s*)?;\\s*selp\\.[us]32\\s+%(\\d)\\s*,\\s*1\\s*,\\s*0\\s*,\\s*"
      "\\1\\s*;\\s*\\}?\\s*");
  const std::string text = literal(parts[0]);
  if (std::smatch match; text.size() <= kMostWait && std::regex_match(text, match, kTryWait)) {
    const auto operand = [&](int group) {
      return argument("%" + match[static_cast<std::size_t>(group)].str(), operands).value_or("0");
    };
    return "(kagent::ptx::mbarrier_try_wait(" + operand(4) + ", " + operand(2) + ", " + operand(3) + "))";
  }
  for (const std::string& raw : split(without_scope(text), ';')) {
    const std::string one = trimmed(raw);
    if (one.empty() || one.starts_with(".reg")) continue;  // a register that is used is no operand: named there
    auto call = instruction(one, operands);
    if (auto* unknown = std::get_if<UnknownPtx>(&call)) return *unknown;
    if (!std::get<std::string>(call).empty()) out += std::get<std::string>(call) + ", ";
    if (out.size() > kMostCall) return UnknownPtx{"a statement that is too long"};
  }
  return out + "static_cast<void>(0))";
}

}  // namespace kagent::emulate
