// Events in the executor: user events, work on the host, ids, and objects that a release lets go.
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

using session::TurnState;

TEST_F(ExecutorTest, AUserEventHoldsBackTheCommandsThatWaitForItAndItsSlotIsNotWritten) {
  ASSERT_TRUE(executor.create_user_event(event(0)));
  enqueue(1, {}, {event(0)});
  loop.pump();
  EXPECT_EQ(state(), TurnState::idle);
  ASSERT_TRUE(executor.set_user_event(event(0), kComplete));
  grant_now();
  EXPECT_EQ(device.issued(), std::vector{1});
  EXPECT_EQ(segment.slots()[0].state, kFresh);
}

TEST_F(ExecutorTest, HostWorkEndsItsEventFromAnyThread) {
  auto work = executor.begin_host_work(event(3));
  ASSERT_TRUE(work);
  std::thread([&] { executor.end_host_work(*work.value(), -11); }).join();
  EXPECT_EQ(status(event(3)), -11);
}

TEST_F(ExecutorTest, OneThatTakesASessionOverRestsUntilItIsTold) {
  EXPECT_FALSE(executor.rests());
  loop.begin_restoring();
  ASSERT_TRUE(loop.restore({}));
  loop.end_restoring();
  EXPECT_TRUE(executor.rests()) << "the worker before it may go on yet";
  loop.take_over();
  EXPECT_FALSE(executor.rests());
}

TEST_F(ExecutorTest, ACommandWaitsForNodesOfOtherLanesUntilTheyHaveEnded) {
  const auto first = std::make_shared<Lane>(true, 0);
  const auto second = std::make_shared<Lane>(true, 0);
  const auto before = std::make_shared<Node>(Work::access, first);
  ASSERT_TRUE(executor.enqueue_after(before, event(0), {}, {}));
  const auto behind = std::make_shared<Node>(Work::marker, second);
  ASSERT_TRUE(executor.enqueue_after(behind, event(1), {}, std::vector<NodePtr>{before}));
  EXPECT_EQ(status(event(1)), kQueued);
  ASSERT_TRUE(executor.end_access(event(0)));
  EXPECT_EQ(status(event(1)), kComplete);
  const auto later = std::make_shared<Node>(Work::marker, second);
  ASSERT_TRUE(executor.enqueue_after(later, event(2), {}, std::vector<NodePtr>{before, behind}));
  EXPECT_EQ(status(event(2)), kComplete) << "a command that has ended is not waited for";
}

TEST_F(ExecutorTest, AReleasedEventsSlotIsNeverWrittenAgain) {
  enqueue(1, event(0));
  grant_now();
  ASSERT_TRUE(executor.release_event(event(0)));
  const std::uint64_t before = segment.slots()[0].state;
  device.complete_one();
  EXPECT_EQ(segment.slots()[0].state, before);
  EXPECT_EQ(state(), TurnState::held);
}

TEST_F(ExecutorTest, ASlotWithANewOwnerIsNotWrittenForItsFormerOne) {
  enqueue(1, event(0));
  grant_now();
  // The front end has let go of the event and made a user event of the next generation in its slot; the
  // worker has not heard of either yet.
  constexpr std::uint64_t kNext = ring::SlotState::make(2, 0);
  segment.slots()[0].state = kNext;
  device.complete_one();
  EXPECT_EQ(segment.slots()[0].state, kNext);
}

TEST_F(ExecutorTest, ACommandReleasedWhileItWaitsIsFreedWhenItHasEnded) {
  ASSERT_TRUE(executor.create_user_event(event(9)));
  bool gone = false;
  {
    const auto command = std::make_shared<FakeCommand>(device, lane, 1);
    command->when_gone = [&] { gone = true; };
    ASSERT_TRUE(executor.enqueue(command, event(0), std::vector{event(9)}));
  }
  executor.note_release();  // of an object that the command uses
  loop.pump();
  ASSERT_TRUE(executor.set_user_event(event(9), kComplete));
  grant_now();
  device.complete_one();
  EXPECT_TRUE(loop.needs_pump()) << "nobody else would come soon";
  loop.pump();
  EXPECT_TRUE(gone);
  EXPECT_FALSE(loop.needs_pump());
}

TEST_F(ExecutorTest, ACommandMayCallTheExecutorWhenItIsFreed) {
  const auto unordered = std::make_shared<Lane>(false, 0);
  auto host_work = executor.begin_host_work(event(9));
  ASSERT_TRUE(host_work);
  {
    const auto first = std::make_shared<FakeCommand>(device, unordered, 1);
    first->when_gone = [&] { executor.end_host_work(*host_work.value(), kComplete); };
    ASSERT_TRUE(executor.enqueue(first, event(0), {}));
  }
  enqueue_on(unordered, 2, event(1), {event(0)});
  grant_now();
  device.complete_one();
  loop.pump();
  EXPECT_EQ(status(event(9)), kQueued)
      << "the second command still names the first in its driver's wait list";
  device.complete_one();
  loop.pump();
  EXPECT_EQ(status(event(9)), kComplete);
}

TEST_F(ExecutorTest, BrokenIdsAreProtocolErrors) {
  const auto command = [&] { return std::make_shared<FakeCommand>(device, lane, 1); };
  EXPECT_FALSE(executor.enqueue(command(), wire::EventId::make(4096, 1), {}));
  EXPECT_FALSE(executor.enqueue(command(), {}, std::vector{event(9)}));
  ASSERT_TRUE(executor.create_user_event(event(0)));
  EXPECT_FALSE(executor.enqueue(command(), event(0), {}));
  EXPECT_FALSE(executor.enqueue(command(), {}, std::vector{wire::EventId::make(0, 2)}));
  EXPECT_FALSE(executor.set_user_event(event(0), 1));
  EXPECT_TRUE(executor.set_user_event(event(0), kComplete));
  EXPECT_FALSE(executor.set_user_event(event(0), kComplete));
  EXPECT_TRUE(executor.release_event(event(0)));
  EXPECT_FALSE(executor.release_event(event(0)));
  EXPECT_FALSE(executor.watch_event(event(0), kComplete));
}

}  // namespace
}  // namespace fairgv::vgpu
