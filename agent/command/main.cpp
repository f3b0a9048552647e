// kagent: a language model writes GPU kernels, a harness decides whether they are any good.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/nearest.h"
#include "agent/base/printable.h"
#include "agent/command/commands.h"
#include "agent/command/config_file.h"
#include "agent/command/options.h"
#include "agent/command/print.h"

namespace kagent {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// An option that no command on the way has: CLI11 first says what is missing, which the mistyped word would have been.
std::optional<std::string> unknown_option(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* command = &program;
  std::vector<std::string> known = option_names(program);
  for (const std::string& word : words) {
    if (word == "--") return {};
    if (!word.starts_with("--")) {
      for (const CLI::App* sub : command->get_subcommands({})) {
        if (sub->get_name() != word) continue;
        command = sub;
        for (std::string& name : option_names(*sub)) known.push_back(std::move(name));
        break;
      }
      continue;
    }
    const std::string name = word.substr(0, word.find('='));
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto near = nearest(name, known);
    return fmt::format("unknown option {}; {}", printable(name.substr(0, 60)),
                       near ? fmt::format("did you mean {}?", *near) : "--help lists them");
  }
  return {};
}

// A word where a command must stand that is none: CLI11 only says that a subcommand is required.
std::optional<std::string> unknown_command(const CLI::App& program, int argc, char** argv) {
  const CLI::App* app = &program;
  for (int i = 1; i < argc && !app->get_subcommands({}).empty(); ++i) {
    const std::string word = argv[i];
    if (word.starts_with("-")) return {};
    const CLI::App* found = nullptr;
    std::vector<std::string> names;
    for (const CLI::App* sub : app->get_subcommands({})) {
      names.push_back(sub->get_name());
      if (sub->get_name() == word) found = sub;
    }
    if (found == nullptr) {
      const auto near = nearest(word, names);
      const std::string hint =
          near ? fmt::format("did you mean {}?", *near) : fmt::format("the commands are {}", fmt::join(names, ", "));
      return fmt::format("unknown command '{}'; {}", printable(word), hint);
    }
    app = found;
  }
  return {};
}

// "--run=": CLI11 takes the next word as the value.
std::optional<std::string> option_without_value(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--") && word.size() > 3 && word.find('=') == word.size() - 1) return std::string(word);
  }
  return {};
}

int run(int argc, char** argv) {
  CLI::App program{
      "A language model writes GPU kernels for PyTorch models; a harness that cannot be fooled decides whether they "
      "are any good."};
  program.name("kagent");
  program.require_subcommand(1);
  program.set_version_flag("--version", "kagent 0.1.0");
  int exit_code = 0;
  add_solve(program, exit_code);
  add_run(program, exit_code);
  add_halves(program, exit_code);
  add_judge(program, exit_code);
  add_show(program, exit_code);
  add_tasks(program, exit_code);
  add_baselines_command(program, exit_code);
  add_replay(program, exit_code);
  add_log(program, exit_code);
  add_audit(program, exit_code);
  add_score(program, exit_code);
  add_report(program, exit_code);
  add_doctor(program, exit_code);
  if (const auto unknown = unknown_command(program, argc, argv)) {
    print_text(stderr, "kagent: {}\n", *unknown);
    return kExitError;
  }
  if (const auto word = option_without_value(argc, argv)) {
    print_text(stderr, "kagent: {} has no value; write {}VALUE, or leave it out\n", printable(*word), printable(*word));
    return kExitError;
  }
  if (const auto unknown = unknown_option(program, {argv + 1, argv + argc})) {
    print_text(stderr, "kagent: {}\n", *unknown);
    return kExitError;
  }
  Result<std::vector<std::string>> arguments = with_config(program, {argv + 1, argv + argc});
  if (!arguments) return fail(arguments.error());
  try {
    std::vector<std::string> reversed(arguments.value().rbegin(), arguments.value().rend());  // as CLI11 wants them
    program.parse(std::move(reversed));
  } catch (const CLI::CallForHelp& help) {
    return program.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return program.exit(version);
  } catch (const CLI::ParseError& error) {
    const char* hint = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ? "; --help shows how" : "";
    print_text(stderr, "kagent: {}\n", printable(error.what() + std::string(hint)));
    return kExitError;
  }
  return exit_code;
}

}  // namespace
}  // namespace kagent

int main(int argc, char** argv) {
  try {
    return kagent::run(argc, argv);
  } catch (const std::exception& error) {
    kagent::print_text(stderr, "kagent: a bug in kagent: {}; please report it\n", kagent::printable(error.what()));
    return kagent::kExitError;
  }
}
