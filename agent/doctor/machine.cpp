// Checks of the machine itself: libraries, GPU, kernel, folders, environment.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "agent/base/file.h"
#include "agent/doctor/checks.h"

namespace kagent::doctor {
namespace {

namespace fs = std::filesystem;

// RTLD_NODELETE below: CUDA's libraries start threads and keep global state, which unloading them would strand.
struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

template <typename Function>
Function* symbol(const Library& library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library.get(), name));
}

// Loads the first `stem`.so* found under the CUDA folders (wheels have lib, toolkits lib64 and extras/CUPTI/lib64).
Library load_first(const std::vector<std::string>& cuda_folders, const std::string& stem, std::string& where) {
  where = "not found";
  for (const std::string& cuda : cuda_folders) {
    for (const char* sub : {"lib", "lib64", "extras/CUPTI/lib64"}) {
      std::error_code failed;
      for (fs::directory_iterator entry(fs::path(cuda) / sub, failed), end; !failed && entry != end;
           entry.increment(failed)) {
        const std::string file = entry->path().filename().string();
        if (file.rfind(stem + ".so", 0) != 0) continue;
        where = entry->path().string();
        if (Library library{::dlopen(where.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)}) return library;
        where = fmt::format("{} does not load: {}", where, ::dlerror());
      }
    }
  }
  return nullptr;
}

std::string device_name(const Library& cuda) {
  auto* init = symbol<int(unsigned)>(cuda, "cuInit");
  auto* count_devices = symbol<int(int*)>(cuda, "cuDeviceGetCount");
  auto* get_name = symbol<int(char*, int, int)>(cuda, "cuDeviceGetName");
  int count = 0;
  if (init == nullptr || count_devices == nullptr || get_name == nullptr) return "";
  if (init(0) != 0 || count_devices(&count) != 0 || count == 0) return "";
  char name[128] = "";
  if (get_name(name, sizeof name - 1, 0) != 0) return "";
  return count == 1 ? std::string(name) : fmt::format("{} x {}", count, name);
}

}  // namespace

Finding check_nvrtc(const std::vector<std::string>& cuda_folders) {
  std::string where;
  const Library library = load_first(cuda_folders, "libnvrtc", where);
  auto* version = library ? symbol<int(int*, int*)>(library, "nvrtcVersion") : nullptr;
  int major = 0;
  int minor = 0;
  if (version != nullptr && version(&major, &minor) == 0) {
    return {"NVRTC", Health::kOk, fmt::format("{}.{} ({})", major, minor, where), ""};
  }
  return {"NVRTC", Health::kMissing, where,
          "torch's wheels bring it: run ./dev build; or set KAGENT_CUDA_ROOT to a CUDA 13 toolkit"};
}

Finding check_cupti(const std::vector<std::string>& cuda_folders) {
  std::string where;
  const Library library = load_first(cuda_folders, "libcupti", where);
  auto* get_version = library ? symbol<int(std::uint32_t*)>(library, "cuptiGetVersion") : nullptr;
  std::uint32_t version = 0;
  if (get_version != nullptr && get_version(&version) == 0) {
    return {"CUPTI", Health::kOk, fmt::format("API {} ({})", version, where), ""};
  }
  return {"CUPTI", Health::kWarning, where, "without it nothing is profiled; torch's wheels bring it: run ./dev build"};
}

Finding check_gpu() {
  const Library cuda{::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
  const bool device_file = fs::exists("/dev/nvidiactl");
  if (const std::string name = cuda ? device_name(cuda) : ""; !name.empty()) return {"GPU", Health::kOk, name, ""};
  if (device_file && !cuda) {
    return {"GPU", Health::kWarning, "/dev/nvidiactl is here, libcuda.so.1 is not",
            "install the NVIDIA driver's user-space libraries (in a container: start it with GPU access)"};
  }
  const char* fact = cuda ? "a driver, and no GPU that it can use" : "none";
  return {"GPU", Health::kWarning, fact,
          "kernels are emulated on the CPU here: whether they are right, not how fast; timing them needs a GPU"};
}

Finding check_seal() {
  constexpr long kLandlockCreateRuleset = 444;  // in the kernel since 5.13; Debian 12's headers may lack the name
  constexpr unsigned kAskVersion = 1;
  const long version = ::syscall(kLandlockCreateRuleset, nullptr, 0, kAskVersion);
  const int reason = errno;
  const auto actions = read_file("/proc/sys/kernel/seccomp/actions_avail", 4096);
  const bool filters = actions && actions.value().find("errno") != std::string::npos;
  if (version > 0 && filters) return {"seal", Health::kOk, fmt::format("Landlock {} and seccomp", version), ""};
  const std::string landlock =
      version > 0 ? fmt::format("Landlock {}", version) : fmt::format("no Landlock ({})", std::strerror(reason));
  return {"seal", Health::kMissing, fmt::format("{}, {}", landlock, filters ? "seccomp" : "no seccomp filters"),
          "kagent runs a model's program only where it can be sealed: use a kernel from 5.13 on with Landlock enabled "
          "(lsm=landlock,...), or a container runtime that lets its system calls through"};
}

Finding check_folder(const std::string& name, const std::string& path) {
  std::error_code failed;
  fs::path existing = fs::absolute(path, failed);
  while (!fs::exists(existing, failed) && existing.has_relative_path()) existing = existing.parent_path();
  if (path.empty() || !fs::is_directory(existing, failed) || ::access(existing.c_str(), W_OK | X_OK) != 0) {
    return {name, Health::kMissing, fmt::format("{} cannot be written", path),
            fmt::format("give yourself write access to {}, or name another folder", existing.string())};
  }
  const double free_gib = static_cast<double>(fs::space(existing, failed).available) / (1 << 30);
  if (!failed && free_gib < 2) {
    return {name, Health::kWarning, fmt::format("{}: {:.1f} GiB free", path, free_gib), "free some space"};
  }
  return {name, Health::kOk, fmt::format("{}: {:.0f} GiB free", path, free_gib), ""};
}

Finding check_keys() {
  std::string present;
  for (const char* name : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    present += (present.empty() ? "" : ", ") + std::string(name);
  }
  if (!present.empty()) return {"API keys", Health::kOk, present, ""};
  return {"API keys", Health::kWarning, "none in the environment",
          "export OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY; `replay:` and `spool:` need none"};
}

}  // namespace kagent::doctor
