// A run directory that somebody else wrote. Input: two texts, see next_part(): manifest.json and the events of one
// task, a line of JSON each, which are chained here (no mutation would hit the sums); and both as bytes of a log.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "agent/base/json_text.h"
#include "agent/base/sha256.h"
#include "agent/command/verdict_text.h"
#include "agent/run/chain.h"
#include "agent/run/run_directory.h"
#include "agent/run/task_state.h"
#include "agent/run/verify.h"
#include "tests/fuzz/require.h"

namespace {

using namespace kagent;  // NOLINT
namespace fs = std::filesystem;

// In memory; removed at exit.
const std::string& folder() {
  struct Folder {
    std::string path = "/dev/shm/kagent-fuzz-" + std::to_string(::getpid());
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
  };
  static const Folder kFolder;
  return kFolder.path;
}

std::string chained(std::string_view lines, std::string prev) {
  std::string log;
  for (std::size_t seq = 0; !lines.empty(); ++seq) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const auto body = parse_json(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (!body || !body.value().is_object()) break;
    const std::string line =
        run::chain_line(text_or(body.value(), "kind", ""), body.value(), seq, prev, text_or(body.value(), "time", ""));
    prev = sha256_hex(line);
    log += line + "\n";
  }
  return log;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)run::parse_chain(bytes, "prev");
  const std::string manifest(next_part(bytes));
  if (!parse_json(manifest)) return 0;
  std::ofstream(folder() + "/manifest.json") << manifest;
  const auto opened = run::RunDirectory::open(folder());
  if (!opened) {
    require(!opened.error().message.empty());
    return 0;
  }
  const std::string log = chained(bytes, opened.value().manifest_sha256());
  fs::remove_all(folder() + "/tasks");
  for (const nlohmann::json& id : opened.value().manifest()["identity"]["tasks"]) {
    const std::string task = folder() + "/tasks/" + run::folder_of_task(id.get<std::string>());
    require(fs::path(task).lexically_normal().string().starts_with(folder() + "/tasks/"));
    std::error_code failed;
    fs::create_directories(task, failed);  // a name may be too long
    std::ofstream(task + "/events.jsonl") << log;
    break;
  }
  (void)run::verify(opened.value(), "head");
  for (const std::string& id : opened.value().tasks()) {
    (void)run::recorded_reply(opened.value(), id, 1);
    const auto chain = opened.value().read_task(id);
    if (!chain) continue;
    for (const run::SampleState& sample : run::state_of(chain.value().events).samples) {
      if (sample.verdict) (void)verdict_text((*sample.verdict)["verdict"]);
    }
  }
  return 0;
}
