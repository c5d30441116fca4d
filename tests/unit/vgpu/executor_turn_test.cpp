// The executor issues commands within turns, which the test gives as the dispatcher does.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::TurnState;

TEST_F(ExecutorTest, NothingIsIssuedWithoutTheTurn) {
  enqueue(1);
  loop.pump();
  EXPECT_EQ(state(), TurnState::wanting);
  EXPECT_EQ(device.in_flight(), 0U);
  grant();
  EXPECT_EQ(device.issued(), std::vector{1});
}

TEST_F(ExecutorTest, ACommandsTimeBeginsNotBeforeTheGrantOfItsTurn) {
  const auto command = std::make_shared<FakeCommand>(device, lane, 1, 0);
  ASSERT_TRUE(executor.enqueue(command, {}, {}));
  loop.pump();
  ASSERT_EQ(state(), TurnState::wanting);
  after_next_look_at_clock = [this] {
    now += 1ms;
    turns[0].slice_ns = std::uint64_t{6'000'000};
    turns[0].state = static_cast<std::uint32_t>(TurnState::held);
  };
  loop.pump();
  ASSERT_EQ(device.in_flight(), 1U);
  EXPECT_EQ(command->issued_at, now);
  now += 100us;
  device.complete_one();
  EXPECT_EQ(turns[0].used_ns, 100'000U);
}

TEST_F(ExecutorTest, ALoneTenantIsNeverSampledAndKeepsTheDeviceFed) {
  for (int i = 0; i < 1000; ++i) enqueue(i);
  grant_now();
  while (device.in_flight() > 0) {
    now += 20us;
    device.complete_one();
    if (loop.needs_pump()) loop.pump();
  }
  std::vector<int> all(1000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(device.issued(), all);
  EXPECT_EQ(turns[0].samples, 0U);
  EXPECT_EQ(turns[0].syncs, 0U);
  EXPECT_EQ(turns[0].used_ns, 1000U * 20'000);
  EXPECT_EQ(knocks, 1);
}

TEST_F(ExecutorTest, AContendedTurnIssuesFiveSamplesThenAFreeRunThenGivesBack) {
  for (int i = 0; i < 200; ++i) enqueue(i);
  loop.pump();
  grant(6ms);
  for (int sample = 0; sample < 5; ++sample) {
    EXPECT_EQ(device.in_flight(), 1U);
    now += 100us;
    device.complete_one();
    EXPECT_TRUE(loop.needs_pump());
    loop.pump();
  }
  EXPECT_EQ(device.in_flight(), 55U);
  while (device.in_flight() > 0) {
    now += 100us;
    device.complete_one();
    if (device.in_flight() > 0 && loop.needs_pump()) loop.pump();
  }
  EXPECT_EQ(device.issued().size(), 60U);
  EXPECT_EQ(state(), TurnState::wanting) << "given back by the driver's callback";
  EXPECT_EQ(turns[0].used_ns, 6'000'000U);
  EXPECT_EQ(turns[0].samples, 5U);
  EXPECT_EQ(knocks, 2);
}

TEST_F(ExecutorTest, TheLoopComesInTimeToIssueTheNextLongCommand) {
  promises[0].in_flight_ns = 300'000;
  for (int i = 0; i < 20; ++i) enqueue(i);
  grant_now();
  for (int i = 0; i < 8; ++i) {
    now += 2ms;
    device.complete_one();
    loop.pump();
  }
  while (device.in_flight() > 1) device.complete_one();
  loop.pump();
  ASSERT_EQ(device.in_flight(), 1U);
  const TimePoint due = loop.deadline().at;
  EXPECT_GT(due, now);
  EXPECT_LT(due, now + 2ms);
  now = due;
  loop.pump();
  EXPECT_EQ(device.in_flight(), 2U);
  EXPECT_EQ(loop.deadline().at, TimePoint::max()) << "no third";
}

TEST_F(ExecutorTest, ATurnThatLingersNeedsTheLoopThread) {
  enqueue(1);
  loop.pump();
  grant(6ms);
  now += 100us;
  device.complete_one();
  EXPECT_TRUE(loop.needs_pump());
  loop.pump();
  EXPECT_NE(loop.deadline().at, TimePoint::max());
  now = loop.deadline().at;
  loop.pump();
  EXPECT_EQ(state(), TurnState::idle);
  EXPECT_EQ(loop.deadline().at, TimePoint::max());
}

TEST_F(ExecutorTest, AKnockThatFailedIsTriedAgain) {
  knocking_works = false;
  enqueue(1);
  loop.pump();
  EXPECT_EQ(knocks, 1);
  EXPECT_NE(loop.deadline().at, TimePoint::max());
  EXPECT_FALSE(loop.deadline().awake);
  knocking_works = true;
  loop.pump();
  EXPECT_EQ(knocks, 2);
  EXPECT_EQ(loop.deadline().at, TimePoint::max());
  loop.pump();
  EXPECT_EQ(knocks, 2);
}

TEST_F(ExecutorTest, EachDeviceHasItsOwnTurn) {
  const auto other_lane = std::make_shared<Lane>(true, 1);
  enqueue(1, event(0));
  ASSERT_TRUE(executor.enqueue(std::make_shared<FakeCommand>(other_device, other_lane, 2), event(1),
                               std::vector{event(0)}));
  grant_now();
  EXPECT_EQ(turns[1].state, static_cast<std::uint32_t>(TurnState::idle));
  device.complete_one();
  EXPECT_TRUE(loop.needs_pump()) << "the other device's command became ready in a callback";
  loop.pump();
  EXPECT_EQ(turns[1].state, static_cast<std::uint32_t>(TurnState::wanting));
  turns[1].state = static_cast<std::uint32_t>(TurnState::held);
  loop.pump();
  EXPECT_EQ(other_device.issued(), std::vector{2});
}

TEST_F(ExecutorTest, SaysWhyItsNextCommandWaits) {
  const auto waits_for = [&] { return std::string(session::name_of_wait(turns[0].waits_for)); };
  ASSERT_TRUE(executor.create_user_event(event(0)));
  enqueue(1, {}, {event(0)});
  EXPECT_EQ(waits_for(), "program");
  ASSERT_TRUE(executor.set_user_event(event(0), kComplete));
  loop.pump();
  EXPECT_EQ(waits_for(), "turn");
  grant();
  EXPECT_EQ(waits_for(), "") << "it is under way, and nothing is behind it";
  device.complete_one();
  loop.pump();
  EXPECT_EQ(waits_for(), "");
}

}  // namespace
}  // namespace fairgv::vgpu
