// kagent audit RUN: what stands behind each accepted kernel of a run, and what LLM judges say of it.

#include <fmt/format.h>

#include <memory>
#include <set>

#include "agent/audit/ask.h"
#include "agent/audit/report.h"
#include "agent/base/file.h"
#include "agent/base/json_text.h"
#include "agent/command/commands.h"
#include "agent/command/options.h"
#include "agent/command/print.h"
#include "agent/command/progress.h"
#include "agent/command/request_options.h"
#include "agent/command/run_names.h"
#include "agent/judge/plan_listing.h"

namespace kagent {
namespace {

struct Options {
  std::string run;
  std::vector<std::string> judges;
  bool no_judges = false;
  bool json = false;
  RequestOptions request;
};

using Judges = std::vector<std::unique_ptr<llm::Provider>>;

// Errors: kUsage (one judge named twice), make_provider's.
Result<Judges> make_judges(const Options& options) {
  llm::ProviderSettings settings = options.request.provider;
  settings.spool_wait = false;  // so that the prompts for all judges are written at once
  Judges judges;
  std::set<std::string> names;
  for (const std::string& judge : options.judges) {
    auto made = llm::make_provider(judge, settings);
    if (!made) return made.error().within("--judge " + judge);
    if (!names.insert(made.value()->name()).second)
      return Error{Code::kUsage, fmt::format("--judge {} is given twice: two judges must be two", judge)};
    judges.push_back(std::move(made).value());
  }
  return judges;
}

// Asks every judge about every sample that it has not judged yet.
Status ask_judges(const Options& options, const run::RunDirectory& run, const std::vector<audit::Sample>& samples) {
  Result<llm::Request> request = request_of(options.request);
  if (!request) return request.error();
  Result<Judges> judges = make_judges(options);
  if (!judges) return judges.error();
  Result<Installation> installation = find_installation();
  if (!installation) return installation.error();
  Result<std::string> text = read_file(installation.value().root + "/prompts/audit/judge.md");
  if (!text) return text.error();
  auto log = run.open_audit();
  if (!log) return log.error();
  const ProgressLine progress(ProgressLine::Show::kYes);
  const audit::AskContext context{*log.value(),    run.blobs(),  text.value(),
                                  request.value(), plan_listing, [&](std::string_view what) { progress.say(what); }};
  for (const auto& judge : judges.value()) {
    bool checked = false;
    for (const audit::Sample& sample : samples) {
      if (!sample.lacks().empty()) continue;
      Result<bool> open = audit::is_open(context, sample, judge->name());
      if (!open) return open.error();
      if (!open.value()) continue;
      if (!checked) {
        if (Status usable = judge->check(); !usable) return usable.error().within(judge->name());
        checked = true;
      }
      if (Status asked = audit::ask(context, sample, *judge); !asked) return asked;
    }
  }
  return Ok{};
}

int run_audit(const Options& options) {
  auto run = open_run_folder(options.run);
  if (!run) return fail(run.error());
  Result<std::vector<audit::Sample>> samples = audit::accepted_samples(run.value());
  if (!samples) return fail(samples.error());
  if (!options.judges.empty()) {
    if (Status asked = ask_judges(options, run.value(), samples.value()); !asked) return fail(asked.error());
  }
  Result<run::Chain> audited = run.value().read_audit();
  if (!audited) return fail(audited.error());
  audit::Report report{options.run, audited.value().events.empty() ? "" : audited.value().head, {}, options.no_judges};
  for (audit::Sample& sample : samples.value()) {
    auto judgements = audit::judgements_of(sample, audited.value().events, run.value().blobs());
    if (!judgements) return fail(judgements.error());
    audit::RuleRecord rules = audit::rule_record(sample.verdict);
    report.rows.push_back({std::move(sample), std::move(rules), std::move(judgements).value()});
  }
  if (options.json) {
    fmt::print("{}\n", pretty(to_json(report)));
  } else {
    print_text(stdout, "{}", to_text(report));
  }
  return report.exit_code();
}

}  // namespace

void add_audit(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      program.add_subcommand("audit",
                             "the record of rules and the LLM judges of a run's accepted kernels (exit 0 in order, 1 "
                             "not, 2 error, 3 judges are open)");
  add_run_argument(*command, options->run, RunUse::kChange);
  CLI::Option* judge = command
                           ->add_option("--judge", options->judges,
                                        "ask this model about each accepted kernel; give it twice for two judges")
                           ->type_name("PROVIDER:MODEL")
                           ->allow_extra_args(false);
  command->add_flag("--no-judges", options->no_judges, "exit 0 although judges are open; they are shown as open")
      ->excludes(judge);
  add_request_options(*command, options->request);
  command->add_flag("--json", options->json, "one JSON object");
  command->footer(
      "Examples:\n  kagent audit runs/first\n  kagent audit runs/first --judge openai:NAME --judge anthropic:NAME\n"
      "  kagent audit runs/first --judge spool:audit/a --judge spool:audit/b");
  command->callback([options, &exit_code] { exit_code = run_audit(*options); });
}

}  // namespace kagent
