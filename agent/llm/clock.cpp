#include "agent/llm/clock.h"

#include <chrono>
#include <random>
#include <thread>

namespace kagent::llm {
namespace {

class RealClock : public Clock {
 public:
  double now_s() override { return seconds(std::chrono::steady_clock::now().time_since_epoch()); }
  double unix_s() override { return seconds(std::chrono::system_clock::now().time_since_epoch()); }
  void sleep(double s) override { std::this_thread::sleep_for(std::chrono::duration<double>(s)); }
  double random() override { return std::uniform_real_distribution<>(0, 1)(generator_); }

 private:
  template <typename Duration>
  static double seconds(Duration d) {
    return std::chrono::duration<double>(d).count();
  }
  std::mt19937_64 generator_{std::random_device{}()};
};

}  // namespace

std::shared_ptr<Clock> real_clock() { return std::make_shared<RealClock>(); }

}  // namespace kagent::llm
