// kagent doctor: what is missing on this machine and what to do.

#include <fmt/format.h>

#include <memory>

#include "agent/base/json_text.h"
#include "agent/command/commands.h"
#include "agent/command/options.h"
#include "agent/command/print.h"
#include "agent/doctor/doctor.h"

namespace kagent {

void add_doctor(CLI::App& program, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      program.add_subcommand("doctor", "what is missing on this machine, and what to do (exit 0 all there, 1 not)");
  command->add_flag("--json", *json, "one JSON object");
  command->callback([json, &exit_code] {
    Result<Installation> found = find_installation();
    if (!found) {
      exit_code = fail(found.error());
      return;
    }
    const Installation& where = found.value();
    const auto findings = examine({where.python, where.library, where.compiler, where.cuda, where.cache, "runs"});
    if (*json) {
      fmt::print("{}\n", pretty(to_json(findings)));
    } else {
      print_text(stdout, "{}", to_text(findings));
    }
    exit_code = all_there(findings) ? 0 : 1;
  });
}

}  // namespace kagent
