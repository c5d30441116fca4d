// Wait lists and user events: no command that waits for a user event is ever ready, and all others end by
// themselves.
#include "tests/unit/vgpu/graph/command_graph_fixture.hpp"

namespace fairgv::vgpu {
namespace {

TEST_F(CommandGraphTest, AWaitWithinADeviceIsLeftToTheDriverOnceTheAwaitedCommandIsIssued) {
  const auto first = command(in_order());
  const auto second = command(in_order(), {first});
  EXPECT_FALSE(second->ready());
  issue(first);
  EXPECT_TRUE(second->ready());
  ASSERT_EQ(second->driver_waits().size(), 1U);
  EXPECT_EQ(second->driver_waits().front(), first);
}

TEST_F(CommandGraphTest, AWaitAcrossDevicesEndsWhenTheAwaitedCommandEnds) {
  const auto first = command(in_order(0));
  const auto second = command(in_order(1), {first});
  issue(first);
  EXPECT_FALSE(second->ready());
  complete(first);
  EXPECT_TRUE(second->ready());
  EXPECT_TRUE(second->driver_waits().empty());
}

TEST_F(CommandGraphTest, ACommandEndsAfterTheCommandsItWaitedForEvenIfReportsComeInReverse) {
  for (const LanePtr& lane : {out_of_order(), in_order()}) {
    const NodePtr first = command(out_of_order());
    issue(first);
    const NodePtr second = command(lane, {first});
    issue(second);
    const NodePtr third = command(in_order(), {second});
    issue(third);
    ended.clear();
    complete(third);
    complete(second);
    EXPECT_EQ(ended, Nodes{}) << "a thread that sees the third end may use the data that the first has read";
    complete(first);
    EXPECT_EQ(ended, (Nodes{first, second, third}));
  }
}

TEST_F(CommandGraphTest, AReportAlsoEndsAnUnobservedCommandThatTheReportedOneWaitedFor) {
  const auto lane = in_order();
  const NodePtr read = command(lane);
  issue(read, false);
  const NodePtr other = command(out_of_order(), {read});
  issue(other);
  const NodePtr last = command(lane, {other});
  issue(last);
  complete(other);
  EXPECT_EQ(ended, Nodes{});
  complete(last);
  EXPECT_EQ(ended, (Nodes{read, other, last}));
}

TEST_F(CommandGraphTest, ACommandBehindAWaitingOneIsReadyOnceThatOneIsIssued) {
  const auto queue = in_order();
  const auto first = command(out_of_order());
  issue(first);
  const auto waiting = command(queue, {first});
  const auto behind = command(queue);
  EXPECT_FALSE(behind->ready());
  issue(waiting);
  EXPECT_TRUE(behind->ready()) << "the driver keeps the order";
}

TEST_F(CommandGraphTest, AnEventThatIsNamedTwiceIsWaitedForTwice) {
  const auto first = command(out_of_order());
  const auto second = command(out_of_order(), {first, first});
  EXPECT_TRUE(moves(second));
}

TEST_F(CommandGraphTest, NothingThatWaitsForAUserEventIsReady) {
  const auto lane = in_order();
  const auto event = user_event();
  const auto before = command(lane);
  const auto waiting = command(lane, {event});
  const auto behind = command(lane);
  const auto depending = command(in_order(), {waiting});
  EXPECT_EQ(ready, Nodes{before});
  set(event);
  EXPECT_EQ(ready, (Nodes{before, waiting, behind}));
  EXPECT_FALSE(depending->ready());
  issue(before);
  issue(waiting);
  EXPECT_TRUE(depending->ready());
}

// A naive worker would hand the first command to a driver thread that blocks, or stop reading: then neither
// the other queue nor the thread that sets the event would ever get through.
TEST_F(CommandGraphTest, AQueueThatWaitsForAUserEventHoldsUpNoOtherQueue) {
  const auto event = user_event();
  const auto stuck_lane = in_order();
  const auto stuck = command(stuck_lane, {event});
  const auto finish_of_stuck = marker(stuck_lane);  // a thread waits for this in clFinish

  const auto other_lane = in_order();
  const auto other = command(other_lane);
  const auto finish_of_other = marker(other_lane);
  run(other);
  EXPECT_TRUE(finish_of_other->ended());  // that thread goes on, and sets the event
  EXPECT_FALSE(finish_of_stuck->ended());
  set(event);
  run(stuck);
  EXPECT_TRUE(finish_of_stuck->ended());
}

TEST_F(CommandGraphTest, TwoQueuesThatWaitForEachOthersUserEventsBothEnd) {
  const auto a = user_event();
  const auto b = user_event();
  const auto lane_a = in_order();
  const auto lane_b = in_order();
  const auto first = command(lane_a, {a});
  const auto second = command(lane_b, {first, b});
  set(b);
  EXPECT_TRUE(ready.empty());
  set(a);
  run(first);
  run(second);
  EXPECT_EQ(graph.pending(), 0U);
}

TEST_F(CommandGraphTest, OnlyNodesBehindAUserEventDoNotEndByThemselves) {
  const auto gate = user_event();
  const auto lane = in_order();
  const auto before = command(lane);
  const auto held = command(lane, {gate});
  const auto behind = marker(lane);
  const auto elsewhere = command(out_of_order());
  const auto across = command(out_of_order(1), {elsewhere, held});
  const auto apart = command(out_of_order(1), {elsewhere, before});
  EXPECT_EQ(moving().size(), 3U);
  for (const auto& node : {before, elsewhere, apart}) EXPECT_TRUE(moves(node));
  for (const auto& node : {held, behind, across}) EXPECT_FALSE(moves(node));
  set(gate);
  EXPECT_EQ(moving().size(), 6U);
}

TEST_F(CommandGraphTest, CommandsInFlightEndByThemselves) {
  const auto lane = in_order();
  const auto running = command(lane);
  const auto next = command(lane);
  issue(running);
  EXPECT_TRUE(moves(running));
  EXPECT_TRUE(moves(next));
  complete(running);
  EXPECT_EQ(moving(), Nodes{next});
}

}  // namespace
}  // namespace fairgv::vgpu
