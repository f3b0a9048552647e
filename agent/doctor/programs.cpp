// Checks that start a program: Python with torch, and the compiler.
#include <fmt/format.h>
#include <unistd.h>

#include "agent/doctor/checks.h"
#include "agent/judge/process.h"

namespace kagent::doctor {
namespace {

using std::chrono::seconds;

constexpr const char* kTorch = "2.11.0";  // the version that the harness library is built for
constexpr const char* kSetUp = "run ./dev build, or name a Python that has torch 2.11.0: ./dev build --python PY";

constexpr const char* kProbe = R"py(
import json, os, sys
request = json.loads(sys.stdin.readline())
answer = {"ok": True, "python": sys.version.split()[0], "torch": "", "wheels": "", "torch_error": "", "library_error": ""}
try:
    import torch
    answer["torch"] = torch.__version__
    answer["wheels"] = os.path.join(os.path.dirname(os.path.dirname(torch.__file__)), "nvidia", "cu13")
    try:
        torch.ops.load_library(request["library"])
    except Exception as error:
        answer["library_error"] = str(error) or type(error).__name__
except Exception as error:
    answer["torch_error"] = str(error) or type(error).__name__
print(json.dumps(answer), flush=True)
)py";

// One request to a program; what went wrong instead of an answer is in `problem`.
nlohmann::json ask(const ChildSpec& spec, const nlohmann::json& request, std::string& problem) {
  auto child = Child::start(spec);
  if (!child) {
    problem = child.error().message;
    return {};
  }
  const ChildReply reply = child.value()->ask(request, seconds(60));
  if (reply.fate != Fate::kAnswered) {
    problem = reply.detail;
    return {};
  }
  return reply.answer;
}

std::string text(const nlohmann::json& answer, const char* key) {
  const auto found = answer.find(key);
  return found != answer.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

PythonFacts check_python(const std::string& python, const std::string& library) {
  std::string problem;
  const auto answer = ask({"python", {python, "-c", kProbe}, "", ""}, {{"library", library}}, problem);
  PythonFacts facts;
  facts.python = {"python", Health::kOk, fmt::format("{} ({})", text(answer, "python"), python), ""};
  facts.torch = {"torch", Health::kOk, text(answer, "torch"), ""};
  facts.library = {"harness library", Health::kOk, library, ""};
  facts.wheels = text(answer, "wheels");
  const bool torch_is_right = facts.torch.fact.substr(0, facts.torch.fact.find('+')) == kTorch;
  if (!problem.empty()) {
    facts.python = {"python", Health::kMissing, fmt::format("{}: {}", python, problem), kSetUp};
    facts.torch.fact = "not looked for: no Python";
  } else if (facts.torch.fact.empty()) {
    facts.torch.fact = text(answer, "torch_error");
  }
  if (!torch_is_right) {
    facts.torch.health = Health::kMissing;
    facts.torch.advice = kSetUp;
  }
  if (::access(library.c_str(), R_OK) != 0) {
    facts.library = {"harness library", Health::kMissing, fmt::format("no {}", library), "run ./dev build"};
  } else if (facts.wheels.empty()) {
    facts.library = {"harness library", Health::kMissing, "not loaded: no torch", kSetUp};
  } else if (const std::string failed = text(answer, "library_error"); !failed.empty()) {
    facts.library = {"harness library", Health::kMissing, failed,
                     "it is built for torch 2.11.0; run ./dev build again with the Python that you use"};
  }
  return facts;
}

Finding check_compiler(const std::string& compiler, const std::string& cache) {
  std::string problem;
  const auto answer = ask({"compiler", {compiler, "--cache", cache}, "", ""}, {{"cmd", "hello"}}, problem);
  if (problem.empty() && answer.value("ok", false)) {
    return {"compiler", Health::kOk,
            fmt::format("{}: NVRTC {}, sealed by {}", compiler, text(answer, "nvrtc"), text(answer, "seal")), ""};
  }
  if (problem.empty()) problem = text(answer.value("error", nlohmann::json::object()), "message");
  return {"compiler", Health::kMissing, fmt::format("{}: {}", compiler, problem),
          "run ./dev build; if that is done, what it says above is what to mend"};
}

}  // namespace kagent::doctor
