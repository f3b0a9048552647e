// kagent score RUN: what a run comes to.

#include <fmt/format.h>

#include <memory>

#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/command/commands.h"
#include "agent/command/options.h"
#include "agent/command/print.h"
#include "agent/command/run_names.h"
#include "agent/score/forms.h"

namespace kagent {
namespace {

struct Options {
  std::string run;
  std::string csv;
  bool json = false;
};

int print_scores(const Options& options) {
  auto directory = open_run_folder(options.run);
  if (!directory) return fail(directory.error());
  Result<score::Run> run = score::read_run(directory.value());
  if (!run) return fail(run.error());
  const score::Scores scores = score::scores_of(run.value());
  if (!options.csv.empty()) {
    if (Status written = write_file(options.csv, score::to_csv(run.value(), scores)); !written)
      return fail(written.error());
  }
  if (options.json) {
    fmt::print("{}\n", pretty(score::to_json(run.value(), scores)));
  } else {
    print_text(stdout, "{}", score::to_markdown(run.value(), scores));
  }
  return 0;
}

}  // namespace

void add_score(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("score", "what a run comes to: correct share, fast_p, best of k, cost");
  add_run_argument(*command, options->run, RunUse::kRead);
  command->add_flag("--json", options->json, "one JSON object");
  command->add_option("--csv", options->csv, "also write a row a sample to this file")
      ->type_name("FILE")
      ->check(not_blank());
  command->footer("Examples:\n  kagent score runs/first\n  kagent score runs/first --json --csv first.csv");
  command->callback([options, &exit_code] { exit_code = print_scores(*options); });
}

}  // namespace kagent
