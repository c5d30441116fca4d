// The ends of commands in the executor: slots, errors, bells, watches, notices, times.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using session::TurnState;

TEST_F(ExecutorTest, ASlotShowsSubmittedAndThenComplete) {
  enqueue(1, event(5));
  EXPECT_EQ(status(event(5)), kQueued);
  grant_now();
  EXPECT_EQ(status(event(5)), kSubmitted);
  device.complete_one();
  EXPECT_EQ(status(event(5)), kComplete);
}

TEST_F(ExecutorTest, AnErrorOfTheDriverReachesTheSlotAndTheCommandsThatWait) {
  enqueue(1, event(0));
  enqueue_on(std::make_shared<Lane>(true, 0), 2, event(1), {event(0)}, 0);
  enqueue(3, event(2), {}, -54);  // refused when it is issued
  grant_now();
  device.complete_one(-5);
  device.complete_all();
  EXPECT_EQ(status(event(0)), -5);
  EXPECT_EQ(status(event(2)), -54);
  EXPECT_LE(status(event(1)), kComplete);
}

TEST_F(ExecutorTest, ACommandThatWaitsForARefusedOneOfItsBatchIsNotIssued) {
  enqueue(1, event(0), {}, -54);
  enqueue_on(std::make_shared<Lane>(true, 0), 2, event(1), {event(0)});
  grant_now();
  EXPECT_EQ(status(event(0)), -54);
  EXPECT_EQ(status(event(1)), kWaitListFailed);
  EXPECT_TRUE(device.issued().empty());
  EXPECT_EQ(state(), TurnState::held);
}

TEST_F(ExecutorTest, ADriversThreadDoesNotWaitForTheLock) {
  const auto first = std::make_shared<FakeCommand>(device, lane, 1);
  ASSERT_TRUE(executor.enqueue(first, event(0), {}));
  enqueue(2, event(1));
  grant_now();
  now += 100us;
  std::future<void> report;
  bool came_back = false;
  first->before_end_shows = [&] {
    report = std::async(std::launch::async, [this] { device.complete_one(); });
    came_back = report.wait_for(10s) == std::future_status::ready;
    now += 1ms;
  };
  device.complete_one();
  EXPECT_TRUE(came_back);
  report.wait();
  EXPECT_EQ(status(event(0)), kComplete);
  EXPECT_EQ(status(event(1)), kComplete);
  EXPECT_EQ(state(), TurnState::held);
  EXPECT_EQ(turns[0].used_ns, 100'000U) << "the time of the report, not of its being taken up";
}

TEST_F(ExecutorTest, AFinishEndsInTheDriversCallbackWithoutTheLoopThread) {
  enqueue(1);
  enqueue(2);
  finish(event(0));
  grant_now();
  device.complete_one();
  EXPECT_EQ(status(event(0)), kQueued);
  device.complete_one();
  EXPECT_EQ(status(event(0)), kComplete);
  EXPECT_EQ(state(), TurnState::held);
}

TEST_F(ExecutorTest, AnEndRingsTheBellOnlyIfSomebodyWaitsForIt) {
  using ring::SlotState;
  const auto rings = [&] { return segment.header().completion_bell.word.load() / ring::Doorbell::kOneRing; };
  for (const std::uint32_t slot : {0U, 1U, 2U}) {
    segment.slots()[slot].state = SlotState::kQuiet | SlotState::make(1, kQueued);
  }
  enqueue(1, event(0));
  enqueue(2, event(1));
  enqueue(3, event(2));
  grant_now();
  segment.slots()[1].state.fetch_and(~SlotState::kQuiet);  // a thread begins to wait
  const auto before = rings();
  device.complete_one();
  EXPECT_EQ(status(event(0)), kComplete);
  EXPECT_EQ(rings(), before);
  device.complete_one();
  EXPECT_EQ(rings(), before + 1);
  loop.pump();
  device.complete_one();
  EXPECT_EQ(status(event(2)), kComplete);
  EXPECT_EQ(rings(), before + 1);
}

TEST_F(ExecutorTest, AWatchIsAnsweredOnceWhenTheStatusIsReachedOrPassed) {
  enqueue(1, event(0));
  ASSERT_TRUE(executor.watch_event(event(0), kSubmitted));
  ASSERT_TRUE(executor.watch_event(event(0), 1));
  ASSERT_TRUE(executor.watch_event(event(0), kComplete));
  EXPECT_TRUE(notices().empty());
  grant_now();
  auto first = notices();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].watched, kSubmitted);
  device.complete_one(-5);
  auto rest = notices();
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].status, -5);
  EXPECT_EQ(rest[1].watched, kComplete);
  ASSERT_TRUE(executor.watch_event(event(0), kComplete));
  EXPECT_EQ(notices().size(), 1U) << "and at once when it has already ended";
}

TEST_F(ExecutorTest, NoticesThatDoNotFitIntoTheRingWaitForRoom) {
  constexpr std::uint32_t kWatches = 500;
  ASSERT_TRUE(executor.create_user_event(event(0)));
  for (std::uint32_t i = 0; i < kWatches; ++i) ASSERT_TRUE(executor.watch_event(event(0), kComplete));
  ASSERT_TRUE(executor.set_user_event(event(0), kComplete));
  loop.pump();
  std::size_t read = notices().size();
  EXPECT_LT(read, kWatches);
  EXPECT_NE(loop.deadline().at, TimePoint::max());
  for (int round = 0; round < 100 && read < kWatches; ++round) {
    loop.pump();
    read += notices().size();
  }
  EXPECT_EQ(read, kWatches);
  loop.pump();
  EXPECT_EQ(loop.deadline().at, TimePoint::max());
}

TEST_F(ExecutorTest, ProfiledQueuesRecordTimesAndAMarkersTimeIsTheEndBeforeIt) {
  const auto profiled = std::make_shared<Lane>(true, 0, Clock::device);
  enqueue_on(profiled, 1, event(0));
  ASSERT_TRUE(executor.enqueue_marker(Work::marker, profiled, 0, event(1), {}));
  grant_now();
  device.complete_one();
  EXPECT_EQ(segment.slots()[0].started, 30U);
  EXPECT_EQ(segment.slots()[0].completed, 50U);
  EXPECT_EQ(segment.slots()[1].started, 40U);
  EXPECT_EQ(segment.slots()[1].ended, 40U);
}

TEST_F(ExecutorTest, MarkersOfLanesByTheHostsClockRecordTheirEnd) {
  const auto stream = std::make_shared<Lane>(true, 0, Clock::host);
  enqueue_on(stream, 1);
  ASSERT_TRUE(executor.enqueue_marker(Work::marker, stream, 0, event(0), {}));
  grant_now();
  now += 7us;
  device.complete_one();
  const auto ended = std::chrono::nanoseconds(now.time_since_epoch()).count();
  EXPECT_EQ(segment.slots()[0].ended, static_cast<std::uint64_t>(ended));
}

}  // namespace
}  // namespace fairgv::vgpu
