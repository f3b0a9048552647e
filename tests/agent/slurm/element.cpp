// slurm_element RUN SECONDS --shard i/n: what an element of a job array does to a run's log, without a judge. For every
// reply of its shard that has no verdict: a judge event, a while of work, a verdict.

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "agent/run/run_directory.h"

int main(int argc, char** argv) {
  std::size_t shard = 0;
  std::size_t shards = 1;
  if (argc != 5 || std::sscanf(argv[4], "%zu/%zu", &shard, &shards) != 2) return 2;
  const auto run = kagent::run::RunDirectory::open(argv[1]);
  if (!run) return 2;
  bool waiting = false;
  const auto& ids = run.value().manifest()["identity"]["tasks"];
  for (std::size_t i = shard; i < ids.size(); i += shards) {
    auto log = run.value().open_task(ids[i].get<std::string>());
    if (!log) {
      std::fprintf(stderr, "%s\n", log.error().message.c_str());
      return 2;
    }
    for (const auto& sample : log.value()->state().samples) {
      if (!sample.reply || sample.verdict) continue;
      const nlohmann::json which = {{"sample", sample.number}};
      if (!log.value()->append("judge", which).ok()) return 2;
      std::this_thread::sleep_for(std::chrono::duration<double>(std::stod(argv[2])));
      nlohmann::json verdict = which;
      verdict["verdict"] = {{"outcome", "rejected"}, {"stage", "visible"}};
      if (!log.value()->append("verdict", verdict).ok()) return 2;
    }
    waiting = waiting || !log.value()->state().ended;
  }
  return waiting ? 4 : 0;
}
