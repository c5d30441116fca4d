// The order of queues by OpenCL 3.0, section 5.11: commands, markers, barriers, and the reports of their
// ends.
#include "tests/unit/vgpu/graph/command_graph_fixture.hpp"

namespace fairgv::vgpu {
namespace {

TEST_F(CommandGraphTest, CommandsOfAnInOrderQueueAreAllReadyInTheirOrder) {
  const auto lane = in_order();
  const Nodes commands{command(lane), command(lane), command(lane)};
  EXPECT_EQ(ready, commands);
}

TEST_F(CommandGraphTest, AnInOrderQueueEndsInOrderEvenIfReportsComeInReverse) {
  const auto lane = in_order();
  const Nodes commands{command(lane), command(lane)};
  issue(commands[0]);
  issue(commands[1]);
  complete(commands[1]);
  EXPECT_TRUE(ended.empty());
  complete(commands[0], -5);
  EXPECT_EQ(ended, commands);
  EXPECT_EQ(commands[0]->status(), -5);
  EXPECT_EQ(commands[1]->status(), kComplete);
}

TEST_F(CommandGraphTest, AReportInAnInOrderQueueEndsOnlyTheUnobservedCommandsBeforeIt) {
  const auto lane = in_order();
  const Nodes commands{command(lane), command(lane), command(lane)};
  issue(commands[0], false);
  issue(commands[1]);
  issue(commands[2], false);
  complete(commands[1]);
  EXPECT_EQ(ended, (Nodes{commands[0], commands[1]}));
}

TEST_F(CommandGraphTest, ARefusedCommandHasTheUnobservedCommandBeforeItObserved) {
  const auto lane = in_order();
  const Nodes commands{command(lane), command(lane), command(lane)};
  issue(commands[0], false);
  issue(commands[1], false);
  issue(commands[2]);
  const NodePtr uncovered = graph.refused(*commands[2], -54);
  take();
  ASSERT_EQ(uncovered, commands[1]);
  EXPECT_TRUE(uncovered->observed);
  EXPECT_TRUE(ended.empty());
  complete(uncovered);
  EXPECT_EQ(ended, commands);
  EXPECT_EQ(commands[2]->status(), -54);
}

TEST_F(CommandGraphTest, ARefusedCommandBehindAnObservedOneChangesNothing) {
  const auto lane = in_order();
  const Nodes commands{command(lane), command(lane), command(lane)};
  issue(commands[0], false);
  issue(commands[1]);
  issue(commands[2]);
  EXPECT_EQ(graph.refused(*commands[2], -54), nullptr);
}

TEST_F(CommandGraphTest, ACommandOfAnOutOfOrderQueueWithoutAWaitListIsReadyAtOnce) {
  const auto lane = out_of_order();
  const auto event = user_event();
  const auto waiting = command(lane, {event});
  const auto free = command(lane);
  EXPECT_EQ(ready, Nodes{free});
  run(free);
  EXPECT_TRUE(free->ended());
  EXPECT_FALSE(waiting->ended());
}

TEST_F(CommandGraphTest, AnEmptyLaunchEndsAfterTheCommandsBeforeItAndHoldsUpNothing) {
  const auto ordered = in_order();
  const NodePtr before = command(ordered);
  const NodePtr empty = nothing(ordered);
  const NodePtr behind = command(ordered);
  EXPECT_TRUE(behind->ready()) << "it holds up nobody: the driver keeps the order";
  EXPECT_FALSE(empty->ended());
  run(before);
  EXPECT_TRUE(empty->ended());

  const auto unordered = out_of_order();
  const NodePtr user = user_event();
  command(unordered, {user});
  EXPECT_TRUE(nothing(unordered)->ended()) << "without a wait list it waits for nothing but barriers";
  EXPECT_FALSE(nothing(unordered, {user})->ended());
}

TEST_F(CommandGraphTest, AnEmptyLaunchWaitsForTheSameCommandsAsAnyLaunch) {
  const auto free = out_of_order();
  command(free);
  EXPECT_TRUE(add(Work::nothing, free)->ended());
  const auto lane = in_order();
  const auto before = command(lane);
  const auto nothing = add(Work::nothing, lane);
  EXPECT_FALSE(nothing->ended());
  run(before);
  EXPECT_TRUE(nothing->ended());
}

TEST_F(CommandGraphTest, AMarkerOfAnEmptyQueueEndsAtOnce) {
  EXPECT_TRUE(marker(in_order())->ended());
  EXPECT_TRUE(marker(out_of_order())->ended());
  EXPECT_TRUE(barrier(out_of_order())->ended());
}

TEST_F(CommandGraphTest, AMarkerOfAnInOrderQueueEndsWithTheCommandsBeforeItAndHoldsUpNothing) {
  const auto lane = in_order();
  const auto before = command(lane);
  const auto mark = marker(lane);
  const auto behind = command(lane);
  EXPECT_TRUE(behind->ready());
  issue(before);
  issue(behind);
  EXPECT_FALSE(mark->ended());
  complete(before);
  EXPECT_TRUE(mark->ended());
  EXPECT_FALSE(behind->ended());
}

TEST_F(CommandGraphTest, AMarkerOfAnOutOfOrderQueueWaitsForEverythingBeforeItAndHoldsUpNothing) {
  const auto lane = out_of_order();
  const Nodes before{command(lane), command(lane)};
  const auto mark = marker(lane);
  const auto behind = command(lane);
  EXPECT_TRUE(behind->ready());
  run(before[1]);
  EXPECT_FALSE(mark->ended());
  run(before[0]);
  EXPECT_TRUE(mark->ended());
  EXPECT_EQ(marker(lane)->ended(), false);  // `behind` has not ended
}

TEST_F(CommandGraphTest, AMarkerWithAWaitListWaitsForNothingElse) {
  const auto lane = out_of_order();
  const auto named = command(lane);
  const auto other = command(lane);
  const auto mark = marker(lane, {named});
  run(named);
  EXPECT_TRUE(mark->ended());
  EXPECT_FALSE(other->ended());
}

TEST_F(CommandGraphTest, ABarrierHoldsUpTheCommandsAfterIt) {
  const auto lane = out_of_order();
  const auto before = command(lane);
  const auto wall = barrier(lane);
  const auto behind = command(lane);
  issue(before);
  EXPECT_FALSE(behind->ready());
  complete(before);
  EXPECT_TRUE(wall->ended());
  EXPECT_TRUE(behind->ready());
}

TEST_F(CommandGraphTest, ABarrierWithAWaitListHoldsUpTheQueueUntilThoseEventsEnd) {
  const auto lane = out_of_order();
  const auto event = user_event();
  const auto before = command(lane);
  const auto wall = barrier(lane, {event});
  const auto second_wall = barrier(lane, {before});
  const auto behind = command(lane);
  run(before);
  EXPECT_FALSE(behind->ready());
  EXPECT_FALSE(second_wall->ended());  // barriers wait for barriers
  set(event);
  EXPECT_TRUE(wall->ended());
  EXPECT_TRUE(second_wall->ended());
  EXPECT_TRUE(behind->ready());
}

}  // namespace
}  // namespace fairgv::vgpu
