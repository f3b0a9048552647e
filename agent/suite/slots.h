// Who may use a GPU: one judged candidate at a time on each, first come first served among this process's threads.
// Other processes are kept off by `lock` (GpuLock).
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/judge/judge.h"

namespace kagent::suite {

// Keeps other processes off a GPU. Errors: kBusy after `wait_s`; kIo.
using Lock = std::function<Result<std::shared_ptr<void>>(const std::string& gpu, double wait_s)>;

class Slots {
 public:
  Slots(std::vector<std::string> gpus, Lock lock, std::function<bool()> stopped);

  // Waits. Errors: kCancelled (stopped), kNotFound (no GPU is left: says why the last one went), kIo.
  Result<Slot> take();

  // A GPU that answers no more is given to nobody again.
  void retire(const std::string& gpu, const std::string& why);

  // Seconds, over all GPUs: how long candidates were judged or prepared for it, and how much of the time in which
  // somebody was waiting.
  struct Use {
    double occupied_s = 0;
    double queued_s = 0;           // somebody was waiting: time x GPUs
    double occupied_queued_s = 0;  // of that, a GPU was occupied
    int taken = 0;
  };
  [[nodiscard]] Use use();

 private:
  using Clock = std::chrono::steady_clock;
  struct Gpu {
    std::string name;
    bool busy = false;
    bool retired = false;
  };
  Gpu* free_gpu();
  [[nodiscard]] bool any_left() const;
  void account();  // before every change
  void give_back(Gpu* gpu);

  std::vector<Gpu> gpus_;
  Lock lock_;
  std::function<bool()> stopped_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<int> queue_;  // tickets
  int next_ticket_ = 0;
  std::string why_retired_;
  Use use_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace kagent::suite
