// Commands that are queued together, one behind the other, and share one event: Executor::enqueue_sequence().
#include <gtest/gtest.h>

#include "tests/unit/vgpu/executor_fixture.hpp"

namespace fairgv::vgpu {
namespace {

struct Sequence : ExecutorTest {
  static IssueSettings with_limit(IssueSettings settings, std::uint64_t commands) {
    settings.limits.commands = commands;
    return settings;
  }

  std::vector<std::shared_ptr<DeviceCommand>> commands(const std::shared_ptr<Lane>& on, int count,
                                                       int refused = 0) {
    std::vector<std::shared_ptr<DeviceCommand>> list;
    for (int name = 1; name <= count; ++name) {
      list.push_back(std::make_shared<FakeCommand>(device, on, name, name == refused ? -5 : 0));
    }
    return list;
  }

  const std::shared_ptr<Lane> unordered = std::make_shared<Lane>(false, 0);
};

TEST_F(Sequence, RunsInItsOrderAndEndsWithItsLastCommand) {
  for (const auto& on : {lane, unordered}) {
    const wire::EventId done = event(on == lane ? 0 : 1);
    ASSERT_TRUE(executor.enqueue_sequence(commands(on, 3), done, {}).value());
    loop.pump();
    if (state() == session::TurnState::wanting) grant();
    for (int ended = 0; ended < 3; ++ended) {
      EXPECT_NE(status(done), kComplete);
      EXPECT_TRUE(device.complete_one());
      loop.pump();
    }
    EXPECT_EQ(status(done), kComplete);
  }
  EXPECT_EQ(device.issued(), (std::vector{1, 2, 3, 1, 2, 3}));
}

TEST_F(Sequence, FailsWithTheCommandThatTheDriverRefuses) {
  ASSERT_TRUE(executor.enqueue_sequence(commands(unordered, 3, 2), event(0), {}).value());
  grant_now();
  device.complete_all();
  loop.pump();
  device.complete_all();
  EXPECT_EQ(status(event(0)), kWaitListFailed);
  EXPECT_EQ(device.issued(), std::vector{1});
}

TEST_F(Sequence, OfWhichAnEventBeforeHasFailedDoesNotBegin) {
  for (const auto& on : {lane, unordered}) {
    const std::uint32_t index = on == lane ? 0 : 2;
    ASSERT_TRUE(executor.create_user_event(event(index)));
    ASSERT_TRUE(executor.set_user_event(event(index), -7));
    const std::vector<wire::EventId> waits{event(index)};
    ASSERT_TRUE(executor.enqueue_sequence(commands(on, 3), event(index + 1), waits).value());
    loop.pump();
    EXPECT_EQ(status(event(index + 1)), kWaitListFailed);
  }
  EXPECT_TRUE(device.issued().empty());
  EXPECT_EQ(state(), session::TurnState::idle);
}

TEST_F(Sequence, ThatIsLongerThanWhatMayBePendingIsNotQueued) {
  std::array<session::DeviceTurn, 2> other_turns{};
  Executor small{segment, other_turns, with_limit(settings(), 4)};
  ASSERT_TRUE(small.enqueue(commands(lane, 1)[0], {}, {}));
  EXPECT_FALSE(small.enqueue_sequence(commands(lane, 4), event(0), {}).value());
  EXPECT_FALSE(small.enqueue_sequence({}, event(0), {}).value());
  EXPECT_TRUE(small.enqueue_sequence(commands(lane, 3), event(0), {}).value());
}

}  // namespace
}  // namespace fairgv::vgpu
