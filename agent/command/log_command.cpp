// kagent log verify: is a run directory whole? kagent log merge: one run directory out of several copies.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "agent/base/json_text.h"
#include "agent/command/commands.h"
#include "agent/command/options.h"
#include "agent/command/print.h"
#include "agent/command/run_names.h"
#include "agent/run/merge.h"
#include "agent/run/verify.h"

namespace kagent {
namespace {

struct Options {
  std::string run;
  std::string head;
  bool json = false;
};

std::string state_words(const run::VerifyReport& r) {
  const int damaged = static_cast<int>(r.problems.size()) - r.unfinished;
  if (damaged > 0) return fmt::format("damaged ({} {})", damaged, damaged == 1 ? "problem" : "problems");
  return r.unfinished > 0 ? "undamaged and not finished" : "whole";
}

int verify_run(const Options& options) {
  auto run = open_run_folder(options.run);
  if (!run) return fail(run.error());
  const auto head = options.head.empty() ? std::nullopt : std::optional<std::string>(options.head);
  Result<run::VerifyReport> report = run::verify(run.value(), head);
  if (!report) return fail(report.error());
  const run::VerifyReport& r = report.value();
  if (options.json) {
    const nlohmann::json json = {
        {"run", options.run},
        {"whole", r.problems.empty()},
        {"head", r.head},
        {"tasks", r.tasks},
        {"events", r.events},
        {"blobs", r.blobs},
        {"problems", r.problems},
        {"unfinished", r.unfinished},
        {"audit_head", r.audit_head.empty() ? nlohmann::json() : nlohmann::json(r.audit_head)}};
    fmt::print("{}\n", pretty(json));
  } else {
    for (const std::string& problem : r.problems) print_text(stdout, "{}\n", printable(problem));
    print_text(stdout, "{}: {}; {} tasks, {} events, {} blobs\nhead {}\n", name_text(options.run), state_words(r),
               r.tasks, r.events, r.blobs, r.head);
    if (!r.audit_head.empty()) print_text(stdout, "audit head {}\n", r.audit_head);
  }
  return r.problems.empty() ? 0 : 1;
}

struct MergeOptions {
  std::string into;
  std::vector<std::string> from;
  bool json = false;
};

int merge_runs(const MergeOptions& options) {
  auto into = open_run_folder(options.into);
  if (!into) return fail(into.error());
  std::vector<run::RunDirectory> copies;
  for (const std::string& folder : options.from) {
    auto copy = open_run_folder(run_folder_to_read(folder));
    if (!copy) return fail(copy.error());
    copies.push_back(std::move(copy).value());
  }
  Result<run::MergeReport> merged = run::merge(into.value(), copies);
  if (!merged) return fail(merged.error());
  nlohmann::json logs = nlohmann::json::array();
  for (const run::MergedLog& log : merged.value().logs) {
    logs.push_back(
        {{"log", log.name}, {"from", log.from}, {"events", log.events}, {"events_before", log.events_before}});
    if (!options.json)
      print_text(stdout, "{}: {} events from {}, {} before\n", name_text(log.name), log.events, name_text(log.from),
                 log.events_before);
  }
  if (options.json) {
    fmt::print("{}\n", pretty({{"run", options.into}, {"logs", logs}, {"blobs", merged.value().blobs}}));
  } else {
    print_text(stdout, "{}: {} {} merged, {} blobs written\n", name_text(options.into), logs.size(),
               logs.size() == 1 ? "log" : "logs", merged.value().blobs);
  }
  return 0;
}

void add_merge(CLI::App& command, int& exit_code) {
  auto options = std::make_shared<MergeOptions>();
  CLI::App* merge = command.add_subcommand(
      "merge", "bring copies of one run together: for each task the longest log, if the others are beginnings of it");
  add_run_argument(*merge, options->into, RunUse::kChange);  // it gets everything
  merge->add_option("from", options->from, "copies of it, which are only read")
      ->required()
      ->type_name("COPY")
      ->check(not_blank());
  merge->add_flag("--json", options->json, "one JSON object");
  merge->footer("Example:\n  kagent log merge runs/first from-node-1/first from-node-2/first");
  merge->callback([options, &exit_code] { exit_code = merge_runs(*options); });
}

}  // namespace

void add_log(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("log", "check a run directory, or merge copies of one");
  command->require_subcommand(1);
  CLI::App* verify = command->add_subcommand(
      "verify", "find edits, gaps and missing files; with --head also truncation (exit 0 whole, 1 not)");
  add_run_argument(*verify, options->run, RunUse::kRead);
  verify->add_option("--head", options->head, "the head hash that was published")->type_name("HASH");
  verify->add_flag("--json", options->json, "one JSON object");
  verify->footer("Example:\n  kagent log verify runs/first --head 3f2a...");
  verify->callback([options, &exit_code] { exit_code = verify_run(*options); });
  add_merge(*command, exit_code);
}

}  // namespace kagent
