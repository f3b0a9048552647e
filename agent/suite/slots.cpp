#include "agent/suite/slots.h"

#include <fmt/format.h>

#include <algorithm>

namespace kagent::suite {
namespace {

constexpr auto kLook = std::chrono::milliseconds(200);  // between looks at `stopped`
constexpr double kLockWaitSeconds = 0.5;

}  // namespace

Slots::Slots(std::vector<std::string> gpus, Lock lock, std::function<bool()> stopped)
    : lock_(std::move(lock)), stopped_(std::move(stopped)) {
  for (std::string& gpu : gpus) gpus_.push_back({std::move(gpu)});
}

Slots::Gpu* Slots::free_gpu() {
  const auto found = std::find_if(gpus_.begin(), gpus_.end(), [](const Gpu& g) { return !g.busy && !g.retired; });
  return found == gpus_.end() ? nullptr : &*found;
}

bool Slots::any_left() const {
  return std::any_of(gpus_.begin(), gpus_.end(), [](const Gpu& g) { return !g.retired; });
}

void Slots::account() {
  const Clock::time_point now = Clock::now();
  const double elapsed_s = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  const auto busy = static_cast<double>(std::count_if(gpus_.begin(), gpus_.end(), [](const Gpu& g) { return g.busy; }));
  const auto here =
      static_cast<double>(std::count_if(gpus_.begin(), gpus_.end(), [](const Gpu& g) { return !g.retired; }));
  use_.occupied_s += elapsed_s * busy;
  if (queue_.empty()) return;
  use_.queued_s += elapsed_s * here;
  use_.occupied_queued_s += elapsed_s * std::min(busy, here);
}

Result<Slot> Slots::take() {
  std::unique_lock<std::mutex> guard(mutex_);
  const int ticket = next_ticket_++;
  account();
  queue_.push_back(ticket);
  const auto leave = [&] {
    account();
    queue_.erase(std::find(queue_.begin(), queue_.end(), ticket));
    changed_.notify_all();
  };
  while (true) {
    if (stopped_ && stopped_()) {
      leave();
      return Error{Code::kCancelled, "stopped before it was judged"};
    }
    if (!any_left()) {
      leave();
      return Error{Code::kNotFound,
                   fmt::format("no GPU is left: {}; the same command goes on when one is back", why_retired_)};
    }
    Gpu* gpu = queue_.front() == ticket ? free_gpu() : nullptr;
    if (gpu == nullptr) {
      changed_.wait_for(guard, kLook);
      continue;
    }
    account();
    gpu->busy = true;
    std::shared_ptr<void> held;
    if (lock_) {
      guard.unlock();  // another process may hold it for long
      Result<std::shared_ptr<void>> locked = lock_(gpu->name, kLockWaitSeconds);
      guard.lock();
      if (!locked) {
        account();
        gpu->busy = false;
        if (locked.error().code == Code::kBusy) continue;
        leave();
        return locked.error();
      }
      held = std::move(locked).value();
    }
    leave();
    ++use_.taken;
    Slot slot{gpu->name, nullptr};
    slot.held = std::shared_ptr<void>(nullptr, [this, gpu, held](void* /*nothing*/) mutable {
      held.reset();
      give_back(gpu);
    });
    return slot;
  }
}

void Slots::give_back(Gpu* gpu) {
  const std::lock_guard<std::mutex> guard(mutex_);
  account();
  gpu->busy = false;
  changed_.notify_all();
}

void Slots::retire(const std::string& gpu, const std::string& why) {
  const std::lock_guard<std::mutex> guard(mutex_);
  account();
  for (Gpu& g : gpus_) {
    if (g.name == gpu) g.retired = true;
  }
  why_retired_ = fmt::format("GPU {}: {}", gpu, why);
  changed_.notify_all();
}

Slots::Use Slots::use() {
  const std::lock_guard<std::mutex> guard(mutex_);
  account();
  return use_;
}

}  // namespace kagent::suite
