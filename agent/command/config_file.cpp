#include "agent/command/config_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "agent/base/file.h"
#include "agent/base/nearest.h"
#include "agent/base/printable.h"

namespace kagent {
namespace {

constexpr const char* kOption = "--config";

bool has(const std::vector<std::string>& arguments, const std::string& option) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string& a) { return a == option || a.starts_with(option + "="); });
}

std::string file_in(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kOption && i + 1 < arguments.size()) return arguments[i + 1];
    if (arguments[i].starts_with(std::string(kOption) + "="))
      return arguments[i].substr(std::string(kOption).size() + 1);
  }
  return "";
}

const CLI::App* command_in(const CLI::App& program, const std::vector<std::string>& arguments) {
  for (const CLI::App* command : program.get_subcommands({})) {
    if (!arguments.empty() && command->get_name() == arguments.front()) return command;
  }
  return nullptr;
}

}  // namespace

Result<std::vector<std::string>> with_config(const CLI::App& program, std::vector<std::string> arguments) {
  const std::string file = file_in(arguments);
  const CLI::App* command = command_in(program, arguments);
  if (file.empty() || command == nullptr || command->get_option_no_throw(kOption) == nullptr) return arguments;
  Result<std::string> text = read_file(file, std::size_t{1} << 20);
  if (!text) return text.error();
  std::vector<CLI::ConfigItem> items;
  try {
    std::istringstream in(text.value());
    items = CLI::ConfigTOML().from_config(in);
  } catch (const CLI::Error& error) {
    return Error{Code::kParse, fmt::format("{}: {}", file, printable(error.what()))};
  }
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back(name);
  }
  const std::vector<std::string> typed = arguments;
  for (const CLI::ConfigItem& item : items) {
    const std::string name = printable(item.fullname());
    const bool is_known = item.parents.empty() && item.name != "config" && item.name != "help" &&
                          std::find(known.begin(), known.end(), item.name) != known.end();
    if (!is_known) {
      const auto near = nearest(name, known);
      return Error{Code::kUsage, fmt::format("{}: there is no setting {}{}", file, name,
                                             near ? fmt::format("; did you mean {}?", *near) : "")};
    }
    const std::string option = "--" + item.name;
    if (has(typed, option)) continue;
    const bool is_list = command->get_option(option)->get_delimiter() == ',';
    if (item.inputs.empty() || (item.inputs.size() > 1 && !is_list))
      return Error{Code::kParse, fmt::format("{}: {} wants one value", file, name)};
    arguments.push_back(fmt::format("{}={}", option, fmt::join(item.inputs, ",")));
  }
  return arguments;
}

}  // namespace kagent
