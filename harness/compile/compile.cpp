#include "harness/compile/compile.h"

#include <algorithm>

#include "harness/compile/errors.h"
#include "harness/compile/ptx_facts.h"
#include "harness/compile/shims.h"

namespace kagent::compile {
namespace {

using nlohmann::json;

// Destroys the program on every path.
struct Program {
  const Nvrtc& nvrtc;
  nvrtcProgram handle = nullptr;
  explicit Program(const Nvrtc& api) : nvrtc(api) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (handle != nullptr) nvrtc.destroy(&handle);
  }
};

std::string fetch(nvrtcProgram program, nvrtcResult (*size_of)(nvrtcProgram, size_t*),
                  nvrtcResult (*get)(nvrtcProgram, char*)) {
  size_t size = 0;
  if (size_of(program, &size) != NVRTC_SUCCESS || size == 0) return "";
  std::string bytes(size, '\0');
  return get(program, bytes.data()) == NVRTC_SUCCESS ? bytes : "";
}

std::string without_nul(std::string text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

// The kernel name without its template arguments and spaces.
std::string base_of(const std::string& name) {
  std::string out;
  for (const char c : name.substr(0, name.find('<'))) {
    if (c != ' ') out += c;
  }
  return out;
}

std::size_t common(const std::string& a, const std::string& b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

std::string unknown_kernel(const std::string& name, const json& by_symbol) {
  std::string best;
  std::string all;
  for (const auto& [symbol, facts] : by_symbol.items()) {
    const std::string plain = plain_name(symbol);
    all += (all.empty() ? "" : ", ") + plain;
    if (common(base_of(plain), base_of(name)) > common(base_of(best), base_of(name))) best = plain;
  }
  return "the CUDA block has no kernel " + name.substr(0, 100) + (best.empty() ? "" : "; did you mean " + best + "?") +
         (all.empty() ? "; it has no __global__ function" : "; it has " + all.substr(0, 300));
}

}  // namespace

std::vector<std::string> flags_of(const Options& options) {
  std::vector<std::string> flags = {"-arch=" + options.arch, "--std=c++17", "-default-device", "-lineinfo",
                                    "--ptxas-options=-v",    "-pch"};
  for (const std::string& folder : options.include) flags.push_back("-I" + folder);
  return flags;
}

Compiled compile(const Nvrtc& nvrtc, const Options& options, const Source& source,
                 const std::vector<std::string>& names) {
  Compiled out;
  const auto headers = shim_headers(options.kagent_cuh);
  std::vector<const char*> header_texts;
  std::vector<const char*> header_names;
  for (const auto& [name, text] : headers) {
    header_names.push_back(name.c_str());
    header_texts.push_back(text.c_str());
  }
  Program program(nvrtc);
  if (nvrtc.create(&program.handle, source.text.c_str(), kAnswerName, static_cast<int>(headers.size()),
                   header_texts.data(), header_names.data()) != NVRTC_SUCCESS) {
    out.error_kind = "internal";
    out.error = "nvrtcCreateProgram failed";
    return out;
  }
  // Names of templates must be asked for; a plain name of an extern "C" function is no expression that NVRTC takes
  // amiss.
  std::vector<std::string> accepted;
  for (const std::string& name : names) {
    if (nvrtc.add_name(program.handle, name.c_str()) == NVRTC_SUCCESS) accepted.push_back(name);
  }
  const std::vector<std::string> flags = flags_of(options);
  std::vector<const char*> flag_texts;
  for (const std::string& flag : flags) flag_texts.push_back(flag.c_str());
  const nvrtcResult result = nvrtc.compile(program.handle, static_cast<int>(flag_texts.size()), flag_texts.data());
  out.log = without_nul(fetch(program.handle, nvrtc.log_size, nvrtc.log));
  if (result != NVRTC_SUCCESS) {
    out.errors = errors_in(out.log);
    out.error_kind = "compile_error";
    out.error = out.errors.empty() ? std::string("the CUDA block does not compile: ") + nvrtc.error_string(result)
                                   : out.errors[0]["message"].get<std::string>();
    // NVRTC says of a name that is no kernel that it is undefined in its own expression file: told again without that
    // name, by us.
    for (const std::string& name : names) {
      if (out.error.find("__nv_name_map") == std::string::npos) break;
      const Compiled without = compile(nvrtc, options, source, {});
      if (!without.ok) return without;
      const json by_symbol = kernel_facts(without.ptx, without.log, source.text);
      if (out.error.find(base_of(name)) == std::string::npos) continue;
      // A kernel that has the name of a function of CUDA's (norm) is no single thing as an expression; its symbol is.
      if (std::count_if(by_symbol.items().begin(), by_symbol.items().end(),
                        [&](const auto& kernel) { return plain_name(kernel.key()) == name; }) == 1) {
        std::vector<std::string> others;
        std::copy_if(names.begin(), names.end(), std::back_inserter(others),
                     [&](const std::string& other) { return other != name; });
        return compile(nvrtc, options, source, others);
      }
      out.error_kind = "unknown_kernel";
      out.error = unknown_kernel(name, by_symbol);
      out.errors = json::array();  // NVRTC's own were about its expression file
      out.log = without.log;
      break;
    }
    return out;
  }
  out.ptx = without_nul(fetch(program.handle, nvrtc.ptx_size, nvrtc.ptx));
  out.cubin = fetch(program.handle, nvrtc.cubin_size, nvrtc.cubin);
  const json by_symbol = kernel_facts(out.ptx, out.log, source.text);
  for (const auto& [symbol, facts] : by_symbol.items()) out.kernels[plain_name(symbol)] = facts;
  for (const std::string& name : names) {
    const char* lowered = nullptr;
    const bool found = std::find(accepted.begin(), accepted.end(), name) != accepted.end() &&
                       nvrtc.lowered_name(program.handle, name.c_str(), &lowered) == NVRTC_SUCCESS &&
                       lowered != nullptr;
    const std::string symbol = found ? lowered : name;
    if (!by_symbol.contains(symbol)) {
      out.error_kind = "unknown_kernel";
      out.error = unknown_kernel(name, by_symbol);
      return out;
    }
    out.kernels[name] = by_symbol[symbol];
  }
  out.ok = !out.cubin.empty();
  if (!out.ok) {
    out.error_kind = "internal";
    out.error = "NVRTC gave no cubin for " + options.arch;
  }
  return out;
}

}  // namespace kagent::compile
