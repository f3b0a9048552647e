#include "agent/command/run_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

#include "agent/base/nearest.h"
#include "agent/base/printable.h"
#include "agent/command/options.h"
#include "agent/judge/installation.h"

namespace kagent {
namespace fs = std::filesystem;
namespace {

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// "pilot" or "runs/pilot" -> "pilot"; "" for any other path.
std::string bare_name(std::string text) {
  if (text.starts_with("runs/")) text.erase(0, 5);
  return text == "." || text == ".." || text.find('/') != std::string::npos ? "" : text;
}

// What may stand in a folder's name stays.
std::string with_dashes(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '_'; }, '-');
  return text;
}

// "some/where/answers/" -> "answers".
std::string last_part(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

// The checkout's runs/, if it is not the runs/ of the current folder; "" otherwise.
std::string checkout_runs() {
  const Result<Installation> installation = find_installation();
  if (!installation) return "";
  const std::string runs = installation.value().root + "/runs";
  std::error_code failed;
  return fs::is_directory(runs, failed) && !fs::equivalent(runs, "runs", failed) ? runs : "";
}

void add_runs_in(const fs::path& folder, std::vector<std::string>& names) {
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    if (is_there(entry->path() / "manifest.json")) names.push_back(entry->path().filename().string());
  }
}

std::string no_such_run(const std::string& folder) {
  std::error_code failed;
  const fs::path looked = fs::absolute(folder, failed).lexically_normal();
  const std::string name = bare_name(folder);
  const std::string other = name.empty() ? "" : checkout_runs();
  std::vector<std::string> names;
  add_runs_in(looked.parent_path(), names);
  if (!other.empty()) add_runs_in(other, names);
  std::sort(names.begin(), names.end());

  std::string places = name_text(looked.string());
  const fs::path there = fs::path(other) / name;
  if (!other.empty() && is_there(there / "manifest.json"))
    return fmt::format("no run in {}; there is one in {}: give that path", places, name_text(there.string()));
  if (!other.empty()) places += " or " + name_text(there.string());
  if (const auto near = nearest(looked.filename().string(), names))
    return fmt::format("no run in {}; did you mean {}?", places, name_text(*near));
  return fmt::format("no run in {}; give the run's path, or call from the folder that holds its runs/", places);
}

}  // namespace

std::string run_folder(const std::string& text) {
  const bool bare = !text.empty() && text.find('/') == std::string::npos && text != "." && text != "..";
  return bare && !is_there(text) ? "runs/" + text : text;
}

std::string run_folder_to_read(const std::string& text) {
  std::string folder = run_folder(text);
  const std::string name = bare_name(folder);
  if (name.empty() || is_there(folder)) return folder;
  const std::string other = checkout_runs();
  return !other.empty() && is_there(fs::path(other) / name / "manifest.json") ? other + "/" + name : folder;
}

std::string default_run_folder(const std::string& task_id, const std::string& model) {
  const std::string old = "runs/" + with_dashes(run::folder_of_task(task_id) + "-" + model).substr(0, 100);
  if (is_there(old + "/manifest.json")) return old;  // of kagent before 2026-12-04
  const std::string task = task_id.starts_with("file/") ? task_id.substr(5) : task_id;
  const std::size_t provider = model.find(':') + 1;  // 0 where there is none
  const std::string name = with_dashes(task + "-" + model.substr(0, provider) + last_part(model.substr(provider)));
  std::string tidy;
  for (const char c : name) {
    if (c != '-' || (!tidy.empty() && tidy.back() != '-')) tidy += c;
  }
  tidy = tidy.substr(0, 60);
  while (tidy.ends_with('-') || tidy.ends_with('.')) tidy.pop_back();
  return "runs/" + tidy;
}

void add_run_argument(CLI::App& command, std::string& run, RunUse use) {
  command.add_option("run", run, "the run's folder, or its name in runs/")
      ->required()
      ->type_name("RUN")
      ->transform(CLI::Validator(
          [use](std::string& text) {
            std::string problem = not_blank()(text);
            if (problem.empty()) text = use == RunUse::kRead ? run_folder_to_read(text) : run_folder(text);
            return problem;
          },
          "", "run"));
}

Result<run::RunDirectory> open_run_folder(const std::string& folder) {
  auto run = run::RunDirectory::open(folder);
  if (run || run.error().code != Code::kNotFound || is_there(folder)) return run;
  return Error{Code::kNotFound, no_such_run(folder)};
}

}  // namespace kagent
