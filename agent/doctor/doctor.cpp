#include "agent/doctor/doctor.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/doctor/checks.h"

namespace kagent {
namespace {

const char* word(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kWarning:
      return "warning";
    case Health::kMissing:
      break;
  }
  return "missing";
}

// The first line, without control characters: facts come from programs and drivers, and go to a terminal.
std::string one_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

}  // namespace

std::vector<Finding> examine(const DoctorInput& input) {
  const doctor::PythonFacts torch = doctor::check_python(input.python, input.library);
  std::vector<std::string> cuda;
  for (const std::string& folder : {input.cuda, torch.wheels, std::string("/usr/local/cuda")}) {
    if (!folder.empty()) cuda.push_back(folder);
  }
  std::vector<Finding> findings{torch.python,
                                torch.torch,
                                torch.library,
                                doctor::check_compiler(input.compiler, input.cache),
                                doctor::check_nvrtc(cuda),
                                doctor::check_cupti(cuda),
                                doctor::check_gpu(),
                                doctor::check_seal(),
                                doctor::check_folder("runs folder", input.runs),
                                doctor::check_folder("cache folder", input.cache),
                                doctor::check_keys()};
  for (Finding& finding : findings) finding.fact = one_line(std::move(finding.fact));
  return findings;
}

bool all_there(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& f) { return f.health == Health::kMissing; });
}

std::string to_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<8} {:<16} {}\n", word(finding.health), finding.name, finding.fact);
    if (!finding.advice.empty()) text += fmt::format("{:<25} -> {}\n", "", finding.advice);
  }
  return text;
}

nlohmann::json to_json(const std::vector<Finding>& findings) {
  auto checks = nlohmann::json::array();
  for (const Finding& f : findings) {
    checks.push_back({{"name", f.name}, {"health", word(f.health)}, {"fact", f.fact}, {"advice", f.advice}});
  }
  return {{"ok", all_there(findings)}, {"checks", std::move(checks)}};
}

}  // namespace kagent
