// Reads PTX into a Module: a loop over statements, no recursion. What it does not know it names in `unreadable`.
#include <algorithm>
#include <map>
#include <tuple>

#include "harness/lint/ptx.h"
#include "harness/lint/ptx_text.h"

namespace kagent::lint {
namespace {

using Kind = Symbol::Kind;

constexpr std::size_t kMaxDepth = 100;  // of scopes: a name is looked for in each

struct Scope {
  int id = 0;
  std::unordered_map<std::string_view, int> names;
  std::unordered_map<std::string_view, long> ranges;  // .reg .b32 %r<49>
};

std::optional<Kind> space_of(std::string_view word) {
  if (word == "global") return Kind::kGlobal;
  if (word == "const") return Kind::kConst;
  if (word == "shared") return Kind::kShared;
  if (word == "local") return Kind::kLocal;
  if (word == "param") return Kind::kParam;
  if (word == "reg" || word == "sreg") return Kind::kRegister;
  return std::nullopt;
}

// "%r" and 12 of "%r12".
std::pair<std::string_view, long> numbered(std::string_view name) {
  std::size_t digits = 0;
  while (digits < name.size() && is_digit(name[name.size() - 1 - digits])) ++digits;
  if (digits == 0 || digits > 9) return {name, -1};
  long value = 0;
  for (const char c : name.substr(name.size() - digits)) value = value * 10 + (c - '0');
  return {name.substr(0, name.size() - digits), value};
}

class Reader {
 public:
  explicit Reader(std::string_view ptx) {
    Bare bare = bare_text(ptx);
    strings_ = std::move(bare.strings);
    if (bare.ambiguous) unreadable("a backslash or a control character");
    module_.texts.push_back(std::move(bare.text));
    push();
  }

  Module read() && {
    Cursor in(module_.texts.front());
    for (in.skip_space(); !in.done(); in.skip_space()) one(in);
    if (scopes_.size() > 1) unreadable("a brace that is not closed");
    end_function();
    return std::move(module_);
  }

 private:
  void one(Cursor& in) {
    const char c = in.peek();
    if (c == '{') {
      in.move();
      open();
    } else if (c == '}') {
      in.move();
      close();
    } else if (c == ';') {
      in.move();
    } else if (c == '.') {
      in.move();
      directive(in);
    } else if (c == '@') {
      in.move();
      guarded(in);
    } else if (starts_name(c)) {
      const std::size_t begin = in.at();
      const std::string_view word = in.name();
      in.skip_space();
      if (in.peek() == ':' && in.peek(1) != ':') {
        in.move();
        label(word);
      } else {
        instruction(in, begin, kNone);
      }
    } else {
      unreadable(in.between(in.at(), in.at() + 1));
      in.move();
      in.pass(";\n");
    }
  }

  void unreadable(std::string_view what) {
    if (module_.unreadable.size() < 5) module_.unreadable.emplace_back(what.substr(0, 40));
  }

  // ---- scopes and names ----

  void open() {
    if (scopes_.size() == 1) begin_function("", false);  // a body without a head
    push();
  }
  void push() {
    if (scopes_.size() < kMaxDepth) {
      module_.around.push_back(scopes_.empty() ? kNone : scopes_.back().id);
      scopes_.emplace_back().id = static_cast<int>(module_.around.size()) - 1;
    } else {
      unreadable("braces nested too deep");
      ++beyond_;
    }
  }
  void close() {
    if (beyond_ > 0) {
      --beyond_;
    } else if (scopes_.size() == 1) {
      unreadable("}");
    } else {
      scopes_.pop_back();
      if (scopes_.size() == 1) end_function();
    }
  }

  int make(std::string_view name, Kind kind) {
    Symbol made;
    made.name = name;
    made.kind = kind;
    module_.symbols.push_back(std::move(made));
    return static_cast<int>(module_.symbols.size()) - 1;
  }

  int declare(std::string_view name, Kind kind) {
    auto [at, fresh] = scopes_.back().names.try_emplace(name, kNone);
    // A name of the module may be met before its declaration; a register is never known before.
    if (fresh || scopes_.size() > 1) at->second = make(name, kind);
    Symbol& symbol = module_.symbols[static_cast<std::size_t>(at->second)];
    if (symbol.kind == Kind::kUnknown || symbol.kind == Kind::kSpecial) symbol.kind = kind;
    return at->second;
  }

  int resolve(std::string_view name) {
    const auto [prefix, number] = numbered(name);
    for (std::size_t i = scopes_.size(); i-- > 0;) {
      if (const auto found = scopes_[i].names.find(name); found != scopes_[i].names.end()) return found->second;
      if (number < 0) continue;
      const auto range = scopes_[i].ranges.find(prefix);
      if (range != scopes_[i].ranges.end() && number < range->second)
        return scopes_[i].names[name] = make(name, Kind::kRegister);
    }
    return scopes_[0].names[name] = make(name, name.starts_with('%') ? Kind::kSpecial : Kind::kUnknown);
  }

  // ---- functions ----

  void begin_function(std::string_view name, bool entry) {
    Function made;
    made.name = name;
    made.entry = entry;
    made.first = static_cast<std::uint32_t>(module_.statements.size());
    module_.functions.push_back(std::move(made));
    in_function_ = true;
  }
  void end_function() {
    if (!in_function_) return;
    Function& f = module_.functions.back();
    f.count = static_cast<std::uint32_t>(module_.statements.size()) - f.first;
    in_function_ = false;
    place_ = kNone;
  }

  // (.param .b32 a, .param .align 8 .b8 b[16]) after its "(".
  std::vector<std::string_view> parameter_names(Cursor& in) {
    std::vector<std::string_view> names;
    while (!in.done()) {
      in.skip_space();
      const char c = in.peek();
      if (c == ')') {
        in.move();
        return names;
      }
      if (c == '.') {
        in.move();
        in.name();
      } else if (starts_name(c)) {
        names.push_back(in.name());
      } else if (is_digit(c)) {
        in.number();
      } else {
        in.move();
      }
    }
    return names;
  }

  void function(Cursor& in, bool entry, bool external) {
    std::vector<std::string_view> results;
    std::vector<std::string_view> parameters;
    std::string_view name;
    while (!in.done()) {
      in.skip_space();
      const char c = in.peek();
      if (c == '{' || c == ';') break;
      if (c == '(') {
        in.move();
        (name.empty() ? results : parameters) = parameter_names(in);
      } else if (c == '.') {
        in.move();
        if (in.name() == "attribute" && in.take('(')) in.pass(")");
      } else if (starts_name(c) && name.empty()) {
        name = in.name();
      } else {
        in.move();
      }
    }
    if (scopes_.size() > 1) return unreadable("a function inside another");
    const int symbol = declare(name, Kind::kFunction);
    if (in.take(';') || in.done()) {
      if (external) module_.symbols[static_cast<std::size_t>(symbol)].external = true;
      return;
    }
    in.move();  // the brace
    module_.symbols[static_cast<std::size_t>(symbol)].function = static_cast<int>(module_.functions.size());
    begin_function(name, entry);
    push();
    Function& f = module_.functions.back();
    f.symbol = symbol;
    for (const auto& result : results) f.results.push_back(declare(result, Kind::kParam));
    for (const auto& parameter : parameters) f.parameters.push_back(declare(parameter, Kind::kParam));
  }

  // ---- directives ----

  void directive(Cursor& in) {
    bool external = false;
    std::string_view word = in.name();
    while (word == "extern" || word == "visible" || word == "weak" || word == "common") {
      external = external || word == "extern";
      in.skip_space();
      if (in.peek() != '.') break;
      in.move();
      word = in.name();
    }
    if (word == "entry" || word == "func") {
      function(in, word == "entry", external);
    } else if (const auto space = space_of(word)) {
      declarations(in, *space, external);
    } else if (word == "loc") {
      location(in);
    } else if (word == "file") {
      file(in);
    } else if (word == "version") {
      in.number();
    } else if (word == "address_size") {
      in.integer();
    } else if (word == "target") {
      do in.name();
      while (in.take(','));
    } else if (word == "pragma" || word == "callprototype" || word == "calltargets") {
      in.pass(";");
    } else if (word == "branchtargets") {
      branch_targets(in);
    } else if (word == "section") {
      in.pass("{");
      in.pass("}");
    } else {
      unreadable(word.empty() ? "." : word);
      in.pass(";\n");
    }
  }

  // .align 4 .b8 name[16] = {...}, other;
  void declarations(Cursor& in, Kind kind, bool external) {
    int symbol = kNone;
    while (!in.done()) {
      in.skip_space();
      const char c = in.peek();
      if (c == '}') return unreadable("a declaration without its end");
      in.move(c == ';' || c == '.' || c == ',' || c == '=' || c == '(' || c == '[' || c == '<' ? 1 : 0);
      if (c == ';') return;
      if (c == '.') {
        in.name();
      } else if (c == ',') {
        symbol = kNone;
      } else if (c == '(') {
        in.pass(")");
      } else if (c == '[') {
        in.pass("]");
      } else if (c == '<') {
        const long count = in.integer();
        in.pass(">");
        if (symbol == kNone) continue;
        const std::string_view prefix = module_.symbols[static_cast<std::size_t>(symbol)].name;
        scopes_.back().ranges[prefix] = count;
      } else if (c == '=') {
        if (symbol != kNone) initial_value(in, symbol);
      } else if (starts_name(c)) {
        symbol = declare(in.name(), kind);
        module_.symbols[static_cast<std::size_t>(symbol)].external = external;
      } else if (in.number().empty()) {
        in.move();
      }
    }
  }

  void initial_value(Cursor& in, int symbol) {
    module_.symbols[static_cast<std::size_t>(symbol)].initialised = true;
    int depth = 0;
    while (!in.done()) {
      in.skip_space();
      const char c = in.peek();
      if (depth == 0 && (c == ',' || c == ';')) return;
      if (starts_name(c)) {
        const int named = resolve(in.name());  // "generic" and "mask" are no symbols of the module's: harmless
        module_.symbols[static_cast<std::size_t>(symbol)].initial.push_back(named);
      } else if (is_digit(c)) {
        in.number();
      } else {
        if (c == '{' || c == '(' || c == '[') ++depth;
        if (c == '}' || c == ')' || c == ']') --depth;
        in.move();
      }
    }
  }

  // .loc 1 5 3   .loc 2 261 5, function_name $L__info_string0, inlined_at 1 5 3
  void location(Cursor& in) {
    Place place;
    place.file = in.integer();
    place.line = in.integer();
    place.column = in.integer();
    while (in.take(',')) {
      const std::string_view word = in.name();
      if (word == "function_name") {
        in.name();
        if (in.take('+')) in.integer();
      } else if (word == "inlined_at") {
        const int file = in.integer();
        const int line = in.integer();
        const auto found = places_.find({file, line, in.integer()});
        if (found != places_.end()) place.from = found->second;
      } else {
        unreadable(word);
      }
    }
    place_ = static_cast<int>(module_.places.size());
    if (place.from != kNone || place.file != 0) places_[{place.file, place.line, place.column}] = place_;
    module_.places.push_back(place);
  }

  void file(Cursor& in) {
    const int number = in.integer();
    in.skip_space();
    const std::size_t quote = in.at();
    if (in.take('"')) in.pass("\"");
    while (in.take(',')) in.integer();
    const auto found = std::lower_bound(strings_.begin(), strings_.end(), quote,
                                        [](const auto& one, std::size_t at) { return one.first < at; });
    if (found == strings_.end() || found->first != quote) return;
    const std::string& path = found->second;
    if (path == "answer.cu" || path.ends_with("/answer.cu")) module_.answer_file = number;
  }

  void branch_targets(Cursor& in) {
    do {
      if (in_function_) module_.functions.back().branch_targets.push_back({in.name(), scopes_.back().id, 0});
    } while (in.take(','));
    in.pass(";");
  }

  // ---- statements ----

  void label(std::string_view name) {
    if (!in_function_) return unreadable(name);
    module_.functions.back().labels.push_back(
        {name, scopes_.back().id, static_cast<std::uint32_t>(module_.statements.size())});
    Statement here;
    here.scope = scopes_.back().id;
    here.labelled = true;
    module_.statements.push_back(here);
  }

  void guarded(Cursor& in) {
    in.take('!');
    const std::string_view predicate = in.name();
    if (predicate.empty()) return unreadable("@");
    const int symbol = resolve(predicate);
    in.skip_space();
    const std::size_t begin = in.at();
    if (in.name().empty()) return unreadable("@");
    instruction(in, begin, symbol);
  }

  void instruction(Cursor& in, std::size_t begin, int predicate) {
    if (!in_function_) {
      unreadable(in.between(begin, in.at()));
      in.pass(";");
      return;
    }
    Statement s;
    s.predicate = predicate;
    s.place = place_;
    s.scope = scopes_.back().id;
    s.opcode = opcode(in, begin);
    s.first = static_cast<std::uint32_t>(module_.operands.size());
    while (operand(in)) {
    }
    s.count = static_cast<std::uint32_t>(module_.operands.size()) - s.first;
    module_.statements.push_back(s);
  }

  // The rest of ld.global.L1::evict_last.f32, also where spaces stand between its parts.
  std::string_view opcode(Cursor& in, std::size_t begin) {
    bool spaced = false;
    std::size_t end = in.at();
    while (!in.done()) {
      const std::size_t before = in.at();
      in.skip_space();
      const char c = in.peek();
      const bool joins = c == '.' || c == ':' || (in.at() > begin && in_name(c) && follows_joint(in, begin));
      if (!joins) {
        in = Cursor(in, before);
        break;
      }
      spaced = spaced || before != in.at();
      in.move();
      while (!in.done() && in_name(in.peek())) in.move();
      end = in.at();
    }
    const std::string_view text = in.between(begin, end);
    if (!spaced && text.find_first_of(" \n") == std::string_view::npos) return text;
    std::string& joined = module_.texts.emplace_back();
    for (const char c : text) {
      if (c != ' ' && c != '\n') joined += c;
    }
    return joined;
  }

  // Does the last character before the spaces ask for more: "ld. global"?
  static bool follows_joint(const Cursor& in, std::size_t begin) {
    const std::string_view before = in.between(begin, in.at());
    const std::size_t last = before.find_last_not_of(" \n");
    return last != std::string_view::npos && (before[last] == '.' || before[last] == ':');
  }

  // One operand and the comma or semicolon after it; false at the end of the statement.
  bool operand(Cursor& in) {
    in.skip_space();
    Operand made;
    made.first = static_cast<std::uint32_t>(module_.names.size());
    made.group = in.peek() == '(';
    const std::size_t begin = in.at();
    int depth = 0;
    char end = ';';
    while (!in.done()) {
      const char c = in.peek();
      if (depth == 0 && (c == ',' || c == ';')) {
        end = c;
        break;
      }
      if (depth == 0 && c == '}') {  // the semicolon is missing
        unreadable("a statement without its end");
        break;
      }
      if (starts_name(c)) {
        module_.names.push_back(resolve(in.name()));
        continue;
      }
      if (is_digit(c)) {
        in.number();
        continue;
      }
      in.move();
      if (c == '.' && starts_name(in.peek())) in.name();  // %tid.x, %v.y
      if (c == '[') made.memory = true;
      if (c == '{' || c == '(' || c == '[') ++depth;
      if (c == '}' || c == ')' || c == ']') --depth;
    }
    made.text = in.between(begin, in.at());
    made.count = static_cast<std::uint32_t>(module_.names.size()) - made.first;
    if (!made.text.empty()) module_.operands.push_back(made);
    if (in.peek() == '}' && end == ';' && depth == 0) return false;
    in.move();
    return end == ',' && !in.done();
  }

  Module module_;
  std::vector<std::pair<std::size_t, std::string>> strings_;
  std::vector<Scope> scopes_;
  std::size_t beyond_ = 0;  // braces open past kMaxDepth
  bool in_function_ = false;
  int place_ = kNone;
  std::map<std::tuple<int, int, int>, int> places_;
};

}  // namespace

Module read_ptx(std::string_view ptx) { return Reader(ptx).read(); }

}  // namespace kagent::lint
