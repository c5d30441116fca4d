// The executor under more commands than it takes, and with threads of their own around it.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::TurnState;

TEST_F(ExecutorTest, StopsReadingWhileTooMuchIsPendingAndTheDeviceIsBusy) {
  for (int i = 0; i < 40'000; ++i) enqueue(i);
  EXPECT_TRUE(loop.saturated());
  grant_now();
  while (loop.saturated()) {
    now += 1us;
    ASSERT_TRUE(device.complete_one());
    if (loop.needs_pump()) loop.pump();
  }
  EXPECT_LE(40'000 - device.issued().size(), 32'768U);
}

TEST_F(ExecutorTest, KeepsReadingWhenOnlyTheClientCanMakeProgress) {
  ASSERT_TRUE(executor.create_user_event(event(0)));
  for (int i = 0; i < 40'000; ++i) enqueue(i, {}, {event(0)});
  loop.pump();
  EXPECT_FALSE(loop.saturated()) << "the call that sets the event may be the next one";
}

TEST_F(ExecutorTest, TellsAFrontEndOfItsBacklogAndRefusesMoreFromOneThatIgnoresIt) {
  IssueSettings strict = settings();
  strict.limits.commands = 20'000;
  Executor limited{segment, turns, strict};
  const auto backlogged = [&] { return segment.header().limits.backlogged.load() != 0; };
  ASSERT_TRUE(limited.create_user_event(event(0)));
  const std::vector<wire::EventId> waits{event(0)};
  const auto send = [&] {
    return limited.enqueue(std::make_shared<FakeCommand>(device, lane, 0), {}, waits);
  };
  std::uint64_t sent = 0;
  for (; !backlogged() && sent <= strict.limits.commands; ++sent) ASSERT_TRUE(send());
  EXPECT_EQ(sent, strict.limits.commands);
  // Calls that were on their way are accepted: as many as a ring holds, and one call per thread.
  Result<void> taken;
  for (; taken; ++sent) taken = send();
  EXPECT_GT(sent, strict.limits.commands + (segment.sizes().request_bytes >> 6));
  EXPECT_LT(sent, strict.limits.commands + (segment.sizes().request_bytes >> 5));
  EXPECT_FALSE(loop_of(limited).saturated());
  ASSERT_TRUE(limited.set_user_event(event(0), -1));
  EXPECT_FALSE(backlogged());
}

// The loop, the driver and the dispatcher have threads of their own; the fake device checks the invariant
// that nothing is issued without the turn.
TEST(ExecutorThreads, EveryCommandEndsWhileTurnsComeAndGo) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const ring::Segment segment = small_segment();
  std::array<session::DeviceTurn, 1> turns{};
  FakeDevice device{turns[0]};
  std::atomic<bool> over{false};
  IssueSettings settings;
  settings.turn.slice = 200us;
  Executor executor{segment, turns, settings};
  Executor::Loop& loop = loop_of(executor);

  std::thread driver([&] {
    while (!over.load()) device.complete_one(kComplete, 1ms);
  });
  std::thread dispatcher([&] {
    std::mt19937_64 random(seed);
    while (!over.load()) {
      std::atomic<std::uint32_t>& state = turns[0].state;
      auto held = static_cast<std::uint32_t>(TurnState::held);
      auto busy = static_cast<std::uint32_t>(TurnState::busy);
      if (random() % 8 == 0) turns[0].due.fetch_add(1);
      if (state.load() == static_cast<std::uint32_t>(TurnState::wanting)) {
        turns[0].slice_ns = random() % 2 == 0 ? 0 : 100'000;
        state.store(held);
      } else if (random() % 4 == 0) {
        state.compare_exchange_strong(held, static_cast<std::uint32_t>(TurnState::idle));
      } else {
        state.compare_exchange_strong(busy, static_cast<std::uint32_t>(TurnState::busy_asked));
      }
      ring::ring(segment.header().worker_bell);
      std::this_thread::yield();
    }
  });

  constexpr int kCommands = 4000;
  const std::array lanes{std::make_shared<Lane>(true, 0), std::make_shared<Lane>(false, 0)};
  ring::SpinBudget budget;
  const auto step = [&] {
    ring::wait(
        segment.header().worker_bell, budget, [&] { return loop.needs_pump(); },
        std::min(loop.deadline().at, std::chrono::steady_clock::now() + 1ms));
    loop.pump();
  };
  for (std::uint32_t i = 0; i < kCommands; ++i) {
    std::vector<wire::EventId> waits;
    if (i % 3 == 2) waits.push_back(event(i - 1));
    ASSERT_TRUE(executor.enqueue(std::make_shared<FakeCommand>(device, lanes[i % 2], static_cast<int>(i)),
                                 event(i), waits));
    if (i % 7 == 0) loop.pump();
    if (i % 500 == 0) step();
  }
  const wire::EventId last = event(kCommands);
  ASSERT_TRUE(executor.enqueue_marker(Work::marker, lanes[1], 0, last, {}));
  const auto ended = [&](wire::EventId of) {
    return segment.slots()[of.index()].state.load() == std::uint64_t{1} << 32;
  };
  while (!ended(last) || !ended(event(kCommands - 2))) step();
  over.store(true);
  driver.join();
  dispatcher.join();
  for (std::uint32_t i = 0; i < kCommands; ++i) EXPECT_TRUE(ended(event(i))) << i;
  EXPECT_EQ(device.issued().size(), static_cast<std::size_t>(kCommands));
}

}  // namespace
}  // namespace fairgv::vgpu
