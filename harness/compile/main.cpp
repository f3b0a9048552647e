// kagent-compile: the compiler process (docs/protocol.md, "Compiler").
//
// A warm parent keeps NVRTC's precompiled headers, which live in memory only; each compilation runs in a forked child
// that is sealed to CUDA's headers and a private folder first, so that #include and .incbin find nothing else.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>

#include "harness/compile/cache.h"
#include "harness/compile/compile.h"
#include "harness/compile/sha256.h"
#include "harness/emulate/branches.h"
#include "harness/emulate/build_program.h"
#include "harness/lint/lint.h"
#include "harness/seal/seal.h"

namespace kagent::compile {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kDeadlineS = 120;
constexpr long kMemoryBytes = 4L << 30;  // beyond what NVRTC and its precompiled headers have mapped
constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 20;

json failed(const std::string& stage, const std::string& kind, const std::string& message, const json& line = nullptr) {
  return {{"ok", false},
          {"error",
           {{"stage", stage},
            {"kind", kind},
            {"message", message},
            {"line", line},
            {"block", stage == "internal" ? "" : "cuda"},
            {"detail", ""}}}};
}

std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

// Address space of this process.
long mapped_bytes() {
  std::ifstream statm("/proc/self/statm");
  long pages = 0;
  statm >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

bool write_all(int fd, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(fd, bytes.data() + at, bytes.size() - at);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

class Server {
 public:
  Server(std::string cuda, const std::string& cache, std::vector<std::string> include, const std::string& header,
         const std::string& emulate_include)
      : nvrtc_(load_nvrtc(cuda)), cache_(cache) {
    // NVRTC keeps an (empty) folder for its precompiled headers where TMPDIR says; children must be able to read it.
    scratch_ = (fs::temp_directory_path() / "kagent-pch-XXXXXX").string();
    if (::mkdtemp(scratch_.data()) == nullptr) nvrtc_.error = "cannot make a temporary folder for NVRTC";
    ::setenv("TZ", "UTC", 1);  // __DATE__ and __TIME__: fixed_time.cpp
    ::setenv("TMPDIR", scratch_.c_str(), 1);
    options_.kagent_cuh = read_text(header);
    options_.include = std::move(include);
    if (options_.include.empty()) {
      if (cuda.empty()) cuda = "/usr/local/cuda";
      for (const char* folder : {"/include", "/include/cccl"}) {
        if (fs::exists(cuda + folder)) options_.include.push_back(cuda + folder);
      }
    }
    emulate_.include = options_.include;
    emulate_.include.insert(emulate_.include.begin(), emulate_include);
    emulate_.runtime = (fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib" / "emulate").string();
  }

  ~Server() {
    std::error_code ignored;
    fs::remove_all(scratch_, ignored);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  json answer(const json& request) {
    const std::string cmd = request.is_object() ? request.value("cmd", "") : "";
    if (!nvrtc_.error.empty()) return failed("internal", "no_nvrtc", nvrtc_.error);
    if (cmd == "hello") return hello();
    if (cmd == "compile") return compile_request(request);
    if (cmd == "emulate") return emulate_request(request);
    return failed("internal", "bad_request", "unknown cmd " + cmd);
  }

 private:
  json hello() {
    const seal::Outcome outcome = seal::probe();
    if (!outcome.sealed)
      return failed("internal", "no_seal",
                    outcome.error + "; sources are compiled only where the compiler can be sealed");
    return {{"ok", true},
            {"nvrtc", nvrtc_.version_text},
            {"library", nvrtc_.library},
            {"include", options_.include},
            {"seal", outcome.how}};
  }

  json compile_request(const json& request) {
    const auto begin = Clock::now();
    Options options = options_;
    options.arch = request.value("arch", "sm_90a");
    std::vector<std::string> names;
    for (const auto& name : request.value("names", json::array())) {
      if (name.is_string()) names.push_back(name.get<std::string>());
    }
    const Source source = prepare_source(request.value("source", ""));
    if (source.error) {
      json reply = failed("compile", "compile_error", source.error->message, source.error->line);
      reply["log"] = "answer.cu(" + std::to_string(source.error->line) + "): error: " + source.error->message + "\n";
      reply["errors"] = json::array({{{"line", source.error->line}, {"message", source.error->message}}});
      return reply;
    }
    const std::string key = key_of(options, source, names);
    json reply;
    if (const auto cached = cache_.find(key)) {
      reply = {{"ok", true},
               {"cached", true},
               {"kernels", cached->value("kernels", json::object())},
               {"log", read_text(cache_.path(key, "compile.log"))}};
    } else {
      warm(options, source.headers);
      reply = in_child(options, source, names, key);
      if (!reply.value("ok", false)) return reply;
      reply["cached"] = false;
    }
    // Anew each time: rules may be newer than what is cached.
    reply["lint"] = lint::to_json(lint::lint(read_text(cache_.path(key, "kernels.ptx"))));
    reply["key"] = key;
    reply["cubin"] = cache_.path(key, "kernels.cubin");
    reply["ptx"] = cache_.path(key, "kernels.ptx");
    reply["preprocessed"] = cache_.path(key, "preprocessed.cu");
    reply["elapsed_s"] = std::chrono::duration<double>(Clock::now() - begin).count();
    return reply;
  }

  // The kernels as a program for this CPU; NVRTC has taken the source before.
  json emulate_request(const json& request) {
    const auto begin = Clock::now();
    std::vector<std::string> names;
    for (const auto& name : request.value("names", json::array())) {
      if (name.is_string()) names.push_back(name.get<std::string>());
    }
    emulate::BuildOptions options = emulate_;
    options.checking = request.value("checking", false);
    const Source source = prepare_source(request.value("source", ""));
    if (source.error) return failed("compile", "compile_error", source.error->message, source.error->line);
    const std::string key = sha256_hex(dump({{"emulate", emulate::build_key(options)},
                                             {"source", source.text},
                                             {"headers", source.headers},
                                             {"names", names}}));
    json reply = {{"ok", true}, {"cached", true}};
    if (!cache_.find(key)) {
      const auto same = settle(source, request.value("arch", "sm_90a"));
      if (!same) return failed("run", "not_emulable", "not emulable: its preprocessor conditionals cannot be settled");
      const emulate::Program program = emulate::build_program(options, *same, names);
      if (!program.error.empty()) return failed("internal", "no_emulation", program.error);
      if (program.bytes.empty()) {
        json no = failed("run", "not_emulable", "not emulable: " + program.reason,
                         program.line > 0 ? json(program.line) : json());
        no["log"] = program.log;
        return no;
      }
      const std::string wrong = cache_.store(key, {{"program", program.bytes}}, {{"kernels", json::object()}});
      if (!wrong.empty()) return failed("internal", "cache", wrong);
      std::error_code ignored;
      fs::permissions(cache_.path(key, "program"), fs::perms::owner_all, ignored);
      reply["cached"] = false;
    }
    reply["program"] = cache_.path(key, "program");
    reply["elapsed_s"] = std::chrono::duration<double>(Clock::now() - begin).count();
    return reply;
  }

  // Only those branches of conditionals that NVRTC takes. None: it takes no notice of them.
  std::optional<Source> settle(const Source& source, const std::string& arch) {
    const auto question = emulate::question_of(source);
    if (!question) return source;
    Options options = options_;
    options.arch = arch;
    warm(options, source.headers);
    const json reply = in_child(options, question->source, {}, sha256_hex(question->source.text));
    if (!reply.value("ok", false)) return std::nullopt;
    std::set<std::string> kernels;
    for (const auto& [name, facts] : reply["kernels"].items()) kernels.insert(name);
    return emulate::settled(source, kernels, question->mark);
  }

  [[nodiscard]] std::string key_of(const Options& options, const Source& source,
                                   const std::vector<std::string>& names) const {
    const json all = {{"format", 1},    {"source", source.text},        {"flags", flags_of(options)},
                      {"names", names}, {"nvrtc", nvrtc_.version_text}, {"header", options.kagent_cuh}};
    return sha256_hex(dump(all));
  }

  // NVRTC makes a precompiled header of a prefix when it meets it first; children inherit it.
  void warm(const Options& options, const std::vector<std::string>& headers) {
    // Also without headers: the first compilation loads NVRTC's builtins, which a sealed child could not find.
    if (!warmed_.insert(options.arch + prefix_of(headers)).second) return;
    Source nothing;
    nothing.headers = headers;
    nothing.text = prefix_of(headers) + "#line 1 \"" + kAnswerName + "\"\n__global__ void kagent_warm() {}\n";
    compile(nvrtc_, options, nothing, {});  // an unknown header fails here as it will in the child
  }

  // Runs in the child: never returns.
  [[noreturn]] void child(const Options& options, const Source& source, const std::vector<std::string>& names, int out,
                          const std::string& folder) {
    ::setenv("TMPDIR", folder.c_str(), 1);
    if (::chdir(folder.c_str()) != 0) ::_exit(3);
    seal::Rules rules;
    rules.readable = options.include;
    rules.readable.push_back(fs::path(nvrtc_.library).parent_path().string());
    rules.readable.push_back(scratch_);
    rules.writable = {folder};
    rules.cpu_seconds = kDeadlineS;
    rules.file_bytes = 256L << 20;
    rules.memory_bytes = mapped_bytes() + kMemoryBytes;
    rules.map_executable = true;
    const seal::Outcome sealed = seal::seal(rules);
    json reply;
    if (!sealed.sealed) {
      reply = failed("internal", "no_seal", sealed.error);
    } else {
      const Compiled compiled = compile(nvrtc_, options, source, names);
      if (compiled.ok) {
        reply = {{"ok", true}, {"kernels", compiled.kernels}, {"log", compiled.log}};
      } else {
        const json line = !compiled.errors.empty() ? compiled.errors[0].value("line", json()) : json();
        reply = failed(compiled.error_kind == "internal" ? "internal" : "compile", compiled.error_kind, compiled.error,
                       line);
        reply["log"] = compiled.log;
        reply["errors"] = compiled.errors;
      }
      reply["ptx_text"] = compiled.ptx;
      reply["cubin_hex"] = hex(compiled.cubin);
    }
    write_all(out, dump(reply));
    ::_exit(0);
  }

  static std::string hex(const std::string& bytes) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string out;
    out.reserve(2 * bytes.size());
    for (const char c : bytes) {
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[static_cast<unsigned char>(c) & 15];
    }
    return out;
  }
  static std::string unhex(const std::string& text) {
    const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
    std::string out;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
      out += static_cast<char>(digit(text[i]) << 4 | digit(text[i + 1]));
    return out;
  }

  json in_child(const Options& options, const Source& source, const std::vector<std::string>& names,
                const std::string& key) {
    std::string folder = (fs::temp_directory_path() / "kagent-nvrtc-XXXXXX").string();
    int channel[2];
    if (::mkdtemp(folder.data()) == nullptr || ::pipe2(channel, O_CLOEXEC) != 0)
      return failed("internal", "no_child", "cannot make a folder or a pipe for the compiler");
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(0);
      ::dup2(2, 1);
      child(options, source, names, channel[1], folder);
    }
    ::close(channel[1]);
    std::string said;
    const bool in_time = pid > 0 && collect(channel[0], said);
    ::close(channel[0]);
    if (pid > 0) {
      if (!in_time) ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    if (pid < 0) return failed("internal", "no_child", "cannot fork a compiler");
    if (!in_time)
      return failed("compile", "deadline",
                    "the CUDA block takes longer than " + std::to_string(kDeadlineS) +
                        " s to compile, or its output is too large: simplify its templates and unrolling");
    json reply = json::parse(said, nullptr, false);
    if (!reply.is_object())
      return failed("compile", "compiler_crashed", "NVRTC crashed or ran out of memory on the CUDA block");
    const std::string ptx = reply.value("ptx_text", "");
    const std::string cubin = unhex(reply.value("cubin_hex", ""));
    reply.erase("ptx_text");
    reply.erase("cubin_hex");
    if (!reply.value("ok", false)) return reply;
    const std::string wrong = cache_.store(key,
                                           {{"kernels.cubin", cubin},
                                            {"kernels.ptx", ptx},
                                            {"preprocessed.cu", source.text},
                                            {"compile.log", reply.value("log", "")}},
                                           {{"kernels", reply["kernels"]}});
    return wrong.empty() ? reply : failed("internal", "cache", wrong);
  }

  static bool collect(int fd, std::string& out) {
    const auto end = Clock::now() + std::chrono::seconds(kDeadlineS);
    char chunk[65536];
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      pollfd ready = {fd, POLLIN, 0};
      if (left <= 0 || out.size() > kMaxAnswerBytes) return false;
      if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
      const ssize_t n = ::read(fd, chunk, sizeof chunk);
      if (n <= 0) return true;
      out.append(chunk, static_cast<std::size_t>(n));
    }
  }

  Nvrtc nvrtc_;
  std::string scratch_;
  Cache cache_;
  Options options_;
  emulate::BuildOptions emulate_;
  std::set<std::string> warmed_;
};

int serve(int argc, char** argv) {
  std::string cuda;
  std::string cache = "/tmp/kagent-cache";
  std::vector<std::string> include;
  std::string emulate_include = "harness/emulate/include";
  std::string header = (fs::read_symlink("/proc/self/exe").parent_path() / "kagent.cuh").string();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--cuda") cuda = argv[i + 1];
    if (option == "--cache") cache = argv[i + 1];
    if (option == "--include") include.emplace_back(argv[i + 1]);
    if (option == "--header") header = argv[i + 1];
    if (option == "--emulate-include") emulate_include = argv[i + 1];
  }
  Server server(cuda, cache, include, header, emulate_include);
  std::string line;
  while (std::getline(std::cin, line)) {
    const json request = json::parse(line, nullptr, false);
    json reply;
    try {
      reply = server.answer(request);
    } catch (const std::exception& error) {  // malformed fields
      reply = failed("internal", "bad_request", error.what());
    }
    std::cout << dump(reply) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace kagent::compile

int main(int argc, char** argv) { return kagent::compile::serve(argc, argv); }
