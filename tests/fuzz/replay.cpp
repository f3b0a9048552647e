// Runs a fuzz target without libFuzzer: on every file of its corpus, on their beginnings, on mutations of them that are
// the same at every run, and on long runs of one character or bracket, alone and amid a file (what recurses once a
// character overflows the stack there). `fuzz_NAME FOLDER_OR_FILE`.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/mutated.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

constexpr int kMutations = 200;              // of every file
constexpr std::size_t kMostBeginnings = 64;  // of every file
constexpr std::size_t kRun = 300'000;        // bytes
constexpr int kRunsAmid = 12;                // of every file

void feed(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string with_run(std::string bytes, std::mt19937& generator) {
  static const std::string kCommon = " x9_.:<(/\"\\*\t";
  bytes.insert(generator() % (bytes.size() + 1), std::string(kRun, kCommon[generator() % kCommon.size()]));
  return bytes;
}

std::vector<fs::path> files_of(const char* path) {
  std::vector<fs::path> files;
  if (!fs::is_directory(path)) return {path};
  for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !fs::exists(argv[1])) {
    std::fprintf(stderr, "usage: %s FOLDER_OR_FILE\n", argv[0]);
    return 2;
  }
  std::mt19937 generator(20261201);
  const std::vector<fs::path> files = files_of(argv[1]);
  for (const fs::path& file : files) {
    std::printf("%s\n", file.filename().c_str());
    std::fflush(stdout);  // the last name is the culprit's
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    feed(bytes);
    const std::size_t step = bytes.size() / kMostBeginnings + 1;
    for (std::size_t size = 0; size < bytes.size(); size += step) feed(bytes.substr(0, size));
    for (int i = 0; i < kMutations; ++i) feed(kagent::mutated(bytes, generator));
    for (int i = 0; i < kRunsAmid; ++i) feed(with_run(bytes, generator));
  }
  for (const std::string one :
       {"[", "{\"a\":", "(", "<", "\"", "\\", " ", "\n", "x", "9", "\xff", "{{#a}}", "<think>"}) {
    std::printf("many %s\n", one == "\n" ? "newlines" : one.c_str());
    std::fflush(stdout);
    std::string run;
    while (run.size() < kRun) run += one;
    feed(run);
  }
  return files.empty() ? 1 : 0;  // a corpus that is not there is no test
}
