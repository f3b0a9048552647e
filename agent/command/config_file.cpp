#include "agent/command/config_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "agent/base/file.h"
#include "agent/base/nearest.h"
#include "agent/base/printable.h"
#include "agent/base/settings_text.h"

namespace kagent {
namespace {

constexpr const char* kOption = "--config";

// Settings that say which tasks: the first on the command line takes the second out of the file.
constexpr std::array<std::pair<const char*, const char*>, 5> kInstead = {
    {{"--level", "tasks"}, {"--tasks", "level"}, {"--task", "file"}, {"--file", "task"}, {"--file", "suite"}}};

bool has(const std::vector<std::string>& arguments, const std::string& option) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string& a) { return a == option || a.starts_with(option + "="); });
}

bool is_overridden(const std::vector<std::string>& typed, const std::string& name) {
  return has(typed, "--" + name) || std::any_of(kInstead.begin(), kInstead.end(), [&](const auto& instead) {
           return name == instead.second && has(typed, instead.first);
         });
}

std::string file_in(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kOption && i + 1 < arguments.size()) return arguments[i + 1];
    if (arguments[i].starts_with(std::string(kOption) + "="))
      return arguments[i].substr(std::string(kOption).size() + 1);
  }
  return "";
}

CLI::App* command_in(CLI::App& program, const std::vector<std::string>& arguments) {
  for (CLI::App* command : program.get_subcommands({})) {
    if (!arguments.empty() && command->get_name() == arguments.front()) return command;
  }
  return nullptr;
}

enum class Takes { kFlag, kWhole, kNumber, kText, kTexts };

// As CLI11 knows it: by how many values it takes, and by its type's name, which validators add to.
Takes what_it_takes(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return Takes::kFlag;
  if (option.get_items_expected_max() > 1) return Takes::kTexts;
  const std::string type = option.get_type_name();
  return type.starts_with("INT") ? Takes::kWhole : type.starts_with("FLOAT") ? Takes::kNumber : Takes::kText;
}

// The setting's values as a command line has them; nothing: it is of another type.
std::optional<std::vector<std::string>> words_of(const SettingValue& value, Takes takes) {
  using Words = std::vector<std::string>;
  const auto* whole = std::get_if<std::int64_t>(&value);
  const bool is_int =
      whole != nullptr && *whole >= std::numeric_limits<int>::min() && *whole <= std::numeric_limits<int>::max();
  switch (takes) {
    case Takes::kFlag:
      if (const bool* flag = std::get_if<bool>(&value)) return Words{*flag ? "true" : "false"};
      break;
    case Takes::kWhole:
      if (is_int) return Words{std::to_string(*whole)};
      break;
    case Takes::kNumber:
      if (whole != nullptr) return Words{std::to_string(*whole)};
      if (const double* real = std::get_if<double>(&value)) return Words{fmt::format("{}", *real)};
      break;
    case Takes::kText:
      if (const auto* text = std::get_if<std::string>(&value)) return Words{*text};
      break;
    case Takes::kTexts:
      if (const auto* texts = std::get_if<Words>(&value)) return *texts;
      break;
  }
  return std::nullopt;
}

std::string wanted_words(const std::string& name, Takes takes) {
  switch (takes) {
    case Takes::kFlag:
      return fmt::format("true or false, as in {} = true", name);
    case Takes::kWhole:
      return fmt::format("a whole number of 32 bits, as in {} = 3", name);
    case Takes::kNumber:
      return fmt::format("a number, as in {} = 0.5", name);
    case Takes::kText:
      return fmt::format("text, as in {} = \"...\"", name);
    case Takes::kTexts:
      return fmt::format("a list of texts, as in {} = [\"...\", \"...\"]", name);
  }
  return "";
}

// What the option's own checks say of a value, or nothing.
std::string problem_with(CLI::Option& option, std::string word) {
  try {
    for (int i = 0;; ++i) {
      if (const std::string problem = (*option.get_validator(i))(word); !problem.empty()) return problem;
    }
  } catch (const CLI::OptionNotFound&) {
    return "";  // that was the last one
  }
}

class Settings {
 public:
  Settings(CLI::App& command, const std::string& file) : command_(command), file_(file) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) {
        if (name != "config" && name != "help") known_.push_back(name);
      }
    }
  }

  // The words that the setting stands for on a command line.
  Result<std::vector<std::string>> words(const Setting& setting) const {
    const std::string& name = setting.name;
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      const auto near = nearest(name, known_);
      return wrong(Code::kUsage, setting,
                   near
                       ? fmt::format("there is no setting {}; did you mean {}?", name, *near)
                       : fmt::format("there is no setting {}; kagent {} --help lists them", name, command_.get_name()));
    }
    CLI::Option& option = *command_.get_option("--" + name);
    const Takes takes = what_it_takes(option);
    const auto values = words_of(setting.value, takes);
    if (!values) {
      return wrong(Code::kParse, setting,
                   fmt::format("{} wants {}, not {}", name, wanted_words(name, takes), kind_of(setting.value)));
    }
    if (values->empty())
      return wrong(Code::kUsage, setting, fmt::format("the list of {} is empty; fill it, or leave {} out", name, name));
    std::vector<std::string> words;
    for (const std::string& value : *values) {
      if (value.empty())
        return wrong(Code::kUsage, setting, fmt::format("{} is empty; give a value, or leave {} out", name, name));
      if (const std::string problem = problem_with(option, value); !problem.empty())
        return wrong(Code::kUsage, setting, fmt::format("{}: {}", name, problem));
      words.push_back(fmt::format("--{}={}", name, value));
    }
    return words;
  }

 private:
  [[nodiscard]] Error wrong(Code code, const Setting& setting, const std::string& what) const {
    return {code, printable(fmt::format("{}:{}: {}", file_, setting.line, what))};
  }

  CLI::App& command_;
  const std::string& file_;
  std::vector<std::string> known_;
};

}  // namespace

Result<std::vector<std::string>> with_config(CLI::App& program, std::vector<std::string> arguments) {
  const std::string file = file_in(arguments);
  CLI::App* command = command_in(program, arguments);
  if (file.empty() || command == nullptr || command->get_option_no_throw(kOption) == nullptr) return arguments;
  Result<std::string> text = read_file(file, std::size_t{1} << 20);
  if (!text) return text.error();
  Result<std::vector<Setting>> settings = parse_settings(text.value(), file);
  if (!settings) return settings.error();
  const Settings of_command(*command, file);
  const std::vector<std::string> typed = arguments;
  for (const Setting& setting : settings.value()) {
    Result<std::vector<std::string>> words = of_command.words(setting);
    if (!words) return words.error();
    if (is_overridden(typed, setting.name)) continue;
    arguments.insert(arguments.end(), words.value().begin(), words.value().end());
  }
  return arguments;
}

}  // namespace kagent
