#include "agent/suite/slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace kagent::suite {
namespace {

using namespace std::chrono_literals;

TEST(Slots, OneAnswerAtATimeOnEachGpu) {
  Slots slots({"0", "1"}, nullptr, nullptr);
  std::atomic<int> at_once = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      Result<Slot> slot = slots.take();
      ASSERT_TRUE(slot.ok());
      const int now = ++at_once;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(5ms);
      --at_once;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 2);
  const Slots::Use use = slots.use();
  EXPECT_EQ(use.taken, 8);
  EXPECT_GT(use.occupied_s, 8 * 0.004);
  EXPECT_GT(use.occupied_queued_s, 0.9 * use.queued_s);
}

TEST(Slots, WaitsForAnotherProcess) {
  std::atomic<int> refusals = 3;
  Slots slots(
      {"0"},
      [&](const std::string& gpu, double) -> Result<std::shared_ptr<void>> {
        EXPECT_EQ(gpu, "0");
        if (refusals-- > 0) return Error{Code::kBusy, "in use"};
        return std::shared_ptr<void>();
      },
      nullptr);
  EXPECT_TRUE(slots.take().ok());
  EXPECT_LT(refusals, 0);
}

TEST(Slots, StopsWaitingWhenAsked) {
  std::atomic<bool> stop = false;
  Slots slots({"0"}, nullptr, [&] { return stop.load(); });
  const Result<Slot> held = slots.take();
  std::thread stopper([&] {
    std::this_thread::sleep_for(20ms);
    stop = true;
  });
  const Result<Slot> second = slots.take();
  stopper.join();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kCancelled);
}

TEST(Slots, ARetiredGpuIsGivenToNobody) {
  Slots slots({"0", "1"}, nullptr, nullptr);
  slots.retire("0", "it fell off the bus");
  {
    const Result<Slot> slot = slots.take();
    ASSERT_TRUE(slot.ok());
    EXPECT_EQ(slot.value().gpu, "1");
  }
  slots.retire("1", "it fell off the bus");
  const Result<Slot> none = slots.take();
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message,
            "no GPU is left: GPU 1: it fell off the bus; the same command goes on when one is back");
}

}  // namespace
}  // namespace kagent::suite
