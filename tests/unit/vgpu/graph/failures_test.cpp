// Errors in the command graph: how far they spread, and when a command that is to fail ends.
#include "tests/unit/vgpu/graph/command_graph_fixture.hpp"

namespace fairgv::vgpu {
namespace {

TEST_F(CommandGraphTest, AnErrorFailsEveryCommandThatWaitsForItAndNoneIsIssued) {
  const auto lane = in_order();
  const auto failing = command(lane);
  const auto waiting = command(in_order(), {failing});
  const auto mark = marker(in_order(), {waiting});
  const auto further = command(out_of_order(), {mark});
  run(failing, -5);
  for (const NodePtr& node : {waiting, mark, further}) {
    EXPECT_TRUE(node->ended());
    EXPECT_FALSE(node->was_issued());
    EXPECT_EQ(node->status(), kWaitListFailed);
  }
  EXPECT_EQ(failing->status(), -5);
}

TEST_F(CommandGraphTest, AWaitForAnEventThatHasAlreadyFailedFails) {
  const auto failed = command(in_order());
  run(failed, -5);
  const auto late = command(in_order(), {failed});
  EXPECT_TRUE(late->ended());
  EXPECT_EQ(late->status(), kWaitListFailed);
}

TEST_F(CommandGraphTest, AFailedUserEventFailsTheCommandThatWaitsForIt) {
  const auto event = user_event();
  const auto waiting = command(in_order(), {event});
  set(event, -42);
  EXPECT_EQ(waiting->status(), kWaitListFailed);
}

TEST_F(CommandGraphTest, AFailedWaitEndsWithTheErrorThatTheLanesDriverGives) {
  const auto rule = std::make_shared<FailedWaits>();
  const auto lane = in_order();
  lane->set_failed_waits(rule);
  const auto end_after = [&](std::int32_t failure) {
    const auto event = user_event();
    const auto waiting = command(lane, {event});
    const auto next = marker(in_order(), {waiting});
    set(event, failure);
    EXPECT_EQ(next->status(), kWaitListFailed) << "of a lane without a rule";
    return waiting->status();
  };
  EXPECT_EQ(end_after(-42), kWaitListFailed);
  rule->set(-1);
  EXPECT_EQ(end_after(-42), -1);
  rule->set(FailedWaits::kPassedOn);
  EXPECT_EQ(end_after(-42), -42);
  EXPECT_EQ(end_after(-7), -7);
}

TEST_F(CommandGraphTest, AFailedWaitIsNoErrorWhereTheDriverIgnoresIt) {
  const auto rule = std::make_shared<FailedWaits>();
  rule->set(FailedWaits::kIgnored);
  const auto lane = in_order();
  lane->set_failed_waits(rule);
  const auto event = user_event();
  const auto waiting = command(lane, {event});
  set(event, -42);
  EXPECT_TRUE(waiting->ready());
  const auto late = command(lane, {event});
  EXPECT_TRUE(late->ready());
}

TEST_F(CommandGraphTest, ANodeThatIsMadeToFailEndsAfterTheCommandsBeforeIt) {
  const auto lane = in_order();
  const auto before = command(lane);
  auto refused = std::make_shared<Node>(Work::device, lane);
  refused->fail(kOutOfResources);
  graph.add(refused, {}, false, 0);
  take();
  EXPECT_FALSE(refused->ended()) << "the command before it has not ended";
  run(before, kComplete);
  EXPECT_EQ(refused->status(), kOutOfResources);
  EXPECT_FALSE(refused->was_issued());
}

TEST_F(CommandGraphTest, AReadyCommandThatAnErrorReachesIsNoLongerReady) {
  const auto failing = command(in_order());
  const auto waiting = command(in_order(), {failing});
  issue(failing);
  ASSERT_TRUE(waiting->ready());
  complete(failing, -5);
  EXPECT_FALSE(waiting->ready());
  EXPECT_EQ(waiting->status(), kWaitListFailed);
}

// Found by the random test: a command behind a ready command was ready too, and stayed ready when the first
// failed.
TEST_F(CommandGraphTest, NoCommandOvertakesOneOfItsQueueThatAnErrorMayStillReach) {
  const auto queue = in_order();
  const auto first = command(out_of_order());
  const auto second = command(out_of_order());
  issue(first);
  issue(second);
  const auto waiting = command(queue, {first, second});
  const auto behind = command(queue);
  EXPECT_TRUE(waiting->ready());
  EXPECT_FALSE(behind->ready());
  complete(first, -5);
  EXPECT_FALSE(waiting->ready());
  EXPECT_FALSE(behind->ready()) << "the failed one has not ended";
  complete(second);
  EXPECT_EQ(waiting->status(), kWaitListFailed);
  EXPECT_TRUE(behind->ready());
}

TEST_F(CommandGraphTest, TheOrderOfAQueueAlonePassesNoErrorOn) {
  const auto lane = in_order();
  const auto failing = command(lane);
  const auto behind = command(lane);
  const auto mark = marker(lane);
  run(failing, -5);
  run(behind);
  EXPECT_EQ(behind->status(), kComplete);
  EXPECT_EQ(mark->status(), kComplete);
}

TEST_F(CommandGraphTest, ACommandThatIsToFailEndsInItsPlaceInAnInOrderQueue) {
  const auto lane = in_order();
  const auto before = command(lane);
  const auto poisoned = add(Work::device, lane, {}, -4);
  const auto mark = marker(lane);
  const auto behind = command(lane);
  EXPECT_TRUE(behind->ready());
  issue(before);
  EXPECT_FALSE(poisoned->ended());
  EXPECT_FALSE(mark->ended());
  complete(before);
  EXPECT_EQ(ended, (Nodes{before, poisoned, mark}));
  EXPECT_EQ(poisoned->status(), -4);
}

TEST_F(CommandGraphTest, ACommandThatIsToFailEndsWithItsErrorOnceItsWaitListHasEnded) {
  const auto event = user_event();
  const auto poisoned = add(Work::device, out_of_order(), {event}, -4);
  EXPECT_FALSE(poisoned->ended());
  set(event);
  EXPECT_EQ(poisoned->status(), -4);
  EXPECT_FALSE(poisoned->was_issued());
}

TEST_F(CommandGraphTest, AnErrorGoesDownAVeryLongChainWithoutRecursion) {
  const auto event = user_event();
  const auto lane = out_of_order();
  NodePtr last = event;
  for (int i = 0; i < 200'000; ++i) last = marker(lane, {last});
  set(event, -1);
  EXPECT_EQ(last->status(), kWaitListFailed);
  EXPECT_EQ(graph.pending(), 0U);
}

}  // namespace
}  // namespace fairgv::vgpu
