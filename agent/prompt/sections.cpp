#include "agent/prompt/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "agent/base/printable.h"

namespace kagent {
namespace {

constexpr std::size_t kMostDeep = 16;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

}  // namespace

std::string section_problem(std::string_view text) {
  std::vector<std::string_view> open;
  for (std::size_t at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at)) {
    const std::size_t end = text.find("}}", at + 2);
    if (end == std::string_view::npos) return "";
    const std::string_view tag = trimmed(text.substr(at + 2, end - at - 2));
    at = end + 2;
    if (tag.empty()) continue;
    const std::string_view name = trimmed(tag.substr(1));
    if (tag.front() == '=') return "other delimiters than {{ }} are not supported";
    if (tag.front() == '/' && !open.empty()) open.pop_back();
    if (tag.front() != '#' && tag.front() != '^') continue;
    if (tag.front() == '#' && std::find(open.begin(), open.end(), name) != open.end())
      return fmt::format("section {} stands inside itself", printable(name.substr(0, 60)));
    open.push_back(name);
    if (open.size() > kMostDeep) return fmt::format("sections are nested more than {} deep", kMostDeep);
  }
  return "";
}

}  // namespace kagent
