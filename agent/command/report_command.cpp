// kagent report RUN: a run as a page to read and tables to compute with.

#include <fmt/format.h>

#include <memory>

#include "agent/command/commands.h"
#include "agent/command/options.h"
#include "agent/command/print.h"
#include "agent/command/run_names.h"
#include "agent/report/report.h"

namespace kagent {
namespace {

struct Options {
  std::string run;
  std::string out;
};

int write_report(const Options& options) {
  auto directory = open_run_folder(options.run);
  if (!directory) return fail(directory.error());
  const std::string folder = options.out.empty() ? options.run + "/report" : options.out;
  if (Status written = report::write(report::gather(directory.value()), folder); !written) return fail(written.error());
  print_text(stdout, "{}/report.html (and .csv, .json, .md)\n", printable(folder));
  return 0;
}

}  // namespace

void add_report(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      program.add_subcommand("report", "a run as one page to read in a browser, and as CSV, JSON and Markdown");
  add_run_argument(*command, options->run, RunUse::kRead);
  command->add_option("--out", options->out, "where to write it (default: RUN/report)")->type_name("DIR");
  command->footer("Examples:\n  kagent report runs/first\n  kagent report runs/first --out /tmp/first");
  command->callback([options, &exit_code] { exit_code = write_report(*options); });
}

}  // namespace kagent
