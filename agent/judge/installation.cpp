#include "agent/judge/installation.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace kagent {
namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// NVRTC and CUDA's headers from torch's wheels in the project's own venv; "" where they are not.
std::string wheels_folder(const std::string& root) {
  std::error_code failed;
  for (const char* version : {"python3.11", "python3.12"}) {
    const fs::path folder = fs::path(root) / ".deps" / "venv" / "lib" / version / "site-packages" / "nvidia" / "cu13";
    if (fs::exists(folder / "lib" / "libnvrtc.so.13", failed) && fs::exists(folder / "include" / "cccl", failed))
      return folder.string();
  }
  return "";
}

std::string cache_folder() {
  if (const std::string dir = environment("KAGENT_CACHE"); !dir.empty()) return dir;
  if (const std::string dir = environment("XDG_CACHE_HOME"); !dir.empty()) return dir + "/kagent";
  const std::string home = environment("HOME");
  return (home.empty() ? "/tmp" : home + "/.cache") + std::string("/kagent");
}

}  // namespace

Result<Installation> find_installation() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  const fs::path build = program.parent_path().parent_path();
  Installation found;
  found.root = environment("KAGENT_ROOT");
  if (found.root.empty()) found.root = build.parent_path().parent_path().string();
  if (!fs::exists(fs::path(found.root) / "harness" / "trace.py", failed)) {
    return Error{
        Code::kNotFound,
        fmt::format("no harness/trace.py under {}; set KAGENT_ROOT to the folder of the kagent checkout", found.root)};
  }
  found.python = environment("KAGENT_PYTHON");
  if (found.python.empty()) {
    const fs::path venv = fs::path(found.root) / ".deps" / "venv" / "bin" / "python";
    found.python = fs::exists(venv, failed) ? venv.string() : "python3";
  }
  found.library = (build / "lib" / "libkagent_harness.so").string();
  found.seal = (build / "lib" / "libkagent_seal.so").string();
  found.compiler = (build / "bin" / "kagent-compile").string();
  found.emulator = (build / "bin" / "kagent-emulate").string();
  found.cuda = environment("KAGENT_CUDA_ROOT");
  if (found.cuda.empty()) found.cuda = wheels_folder(found.root);
  found.cache = cache_folder();
  return found;
}

}  // namespace kagent
