// The command graph against the rules of OpenCL 3.0, section 5.11, and the worker's own: nothing that waits
// for a user event is ever ready.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/vgpu/graph/command_graph.hpp"

namespace fairgv::vgpu {
namespace {

using Nodes = std::vector<NodePtr>;

class CommandGraphTest : public ::testing::Test {
 protected:
  using LanePtr = std::shared_ptr<Lane>;
  LanePtr in_order(wire::DeviceIndex device = 0) { return std::make_shared<Lane>(true, device); }
  LanePtr out_of_order(wire::DeviceIndex device = 0) { return std::make_shared<Lane>(false, device); }

  NodePtr add(Work work, LanePtr lane, Nodes waits = {}, std::int32_t error = 0) {
    auto node = std::make_shared<Node>(work, std::move(lane), error);
    const bool named = !waits.empty();
    std::int32_t failure = 0;
    Nodes open;
    for (const NodePtr& wait : waits) {
      if (!wait->ended()) {
        open.push_back(wait);
      } else if (wait->status() < 0) {
        failure = wait->status();
      }
    }
    graph.add(node, open, named, failure);
    take();
    return node;
  }
  NodePtr command(LanePtr lane, Nodes waits = {}) { return add(Work::device, std::move(lane), waits); }
  NodePtr marker(LanePtr lane, Nodes waits = {}) { return add(Work::marker, std::move(lane), waits); }
  NodePtr barrier(LanePtr lane, Nodes waits = {}) { return add(Work::barrier, std::move(lane), waits); }
  NodePtr nothing(LanePtr lane, Nodes waits = {}) { return add(Work::nothing, std::move(lane), waits); }
  NodePtr access(LanePtr lane, Nodes waits = {}) { return add(Work::access, std::move(lane), waits); }
  NodePtr user_event() { return add(Work::user, nullptr); }

  void issue(const NodePtr& node, bool observed = true) {
    ASSERT_TRUE(node->ready());
    node->observed = observed;
    graph.issued(*node);
    take();
  }
  void complete(const NodePtr& node, std::int32_t status = kComplete) {
    graph.completed(*node, status);
    take();
  }
  void run(const NodePtr& node, std::int32_t status = kComplete) {
    issue(node);
    complete(node, status);
  }
  void end(const NodePtr& access) {
    ASSERT_TRUE(access->granted());
    graph.end_access(*access);
    take();
  }
  void set(const NodePtr& event, std::int32_t status = kComplete) {
    graph.end_external(*event, status);
    take();
  }
  Nodes moving() {
    Nodes nodes;
    graph.collect_moving(nodes);
    return nodes;
  }
  bool moves(const NodePtr& node) {
    const Nodes nodes = moving();
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  }
  void take() {
    for (const NodePtr& node : graph.newly_ready()) ready.push_back(node);
    for (const NodePtr& node : graph.newly_granted()) granted.push_back(node);
    for (const NodePtr& node : graph.newly_ended()) ended.push_back(node);
    graph.let_go_of().clear();
    graph.newly_ready().clear();
    graph.newly_granted().clear();
    graph.newly_ended().clear();
  }

  CommandGraph graph;
  Nodes ready;  // in the order in which they became so
  Nodes granted;
  Nodes ended;
};

TEST_F(CommandGraphTest, AnInOrderQueueIsReadyAllTheWayAndInOrder) {
  const auto lane = in_order();
  const Nodes commands{command(lane), command(lane), command(lane)};
  EXPECT_EQ(ready, commands);
}

TEST_F(CommandGraphTest, AnAccessIsGrantedWhenAllBeforeItHasEndedAndHoldsBackAllBehindIt) {
  const auto lane = in_order();
  const NodePtr before = command(lane);
  const NodePtr copy = access(lane);
  const NodePtr behind = command(lane);
  issue(before);
  EXPECT_FALSE(copy->granted()) << "issued is not ended";
  complete(before);
  EXPECT_EQ(granted, Nodes{copy});
  EXPECT_FALSE(behind->ready()) << "the driver knows nothing of the access";
  EXPECT_FALSE(copy->ended());
  end(copy);
  EXPECT_TRUE(copy->ended());
  EXPECT_TRUE(behind->ready());
}

TEST_F(CommandGraphTest, AccessesOfAnInOrderQueueAreGrantedOneByOne) {
  const auto lane = in_order();
  const NodePtr first = access(lane);
  const NodePtr second = access(lane);
  EXPECT_EQ(granted, Nodes{first});
  end(first);
  EXPECT_EQ(granted, (Nodes{first, second}));
}

TEST_F(CommandGraphTest, AnAccessOfAnOutOfOrderQueueWaitsForItsWaitListAndBarriersOnly) {
  const auto lane = out_of_order();
  const NodePtr elsewhere = command(lane);
  EXPECT_TRUE(access(lane)->granted());
  const NodePtr named = access(lane, {elsewhere});
  issue(elsewhere);
  EXPECT_FALSE(named->granted()) << "issued is not ended";
  const NodePtr fence = barrier(lane);
  const NodePtr late = access(lane);
  EXPECT_FALSE(late->granted());
  complete(elsewhere);
  EXPECT_TRUE(named->granted());
  EXPECT_FALSE(fence->ended()) << "an access has not ended";
  end(named);
  EXPECT_FALSE(late->granted()) << "the first access has not ended";
  end(granted.front());
  EXPECT_TRUE(fence->ended());
  EXPECT_TRUE(late->granted());
}

TEST_F(CommandGraphTest, AnAccessWhoseWaitListFailedOrWhichIsPoisonedIsNotGranted) {
  const auto lane = out_of_order();
  const NodePtr user = user_event();
  const NodePtr waiting = access(lane, {user});
  set(user, -5);
  EXPECT_EQ(waiting->status(), kWaitListFailed);
  EXPECT_FALSE(waiting->granted());
  const NodePtr poisoned = add(Work::access, in_order(), {}, -38);
  EXPECT_EQ(poisoned->status(), -38);
  EXPECT_FALSE(poisoned->granted());
}

TEST_F(CommandGraphTest, NothingTakesItsPlaceAndNoMore) {
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

TEST_F(CommandGraphTest, AnInOrderQueueEndsInOrderEvenIfReportsComeTheOtherWayRound) {
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

TEST_F(CommandGraphTest, AReportInAnInOrderQueueCoversTheUnobservedBeforeItOnly) {
  const auto lane = in_order();
  const Nodes commands{command(lane), command(lane), command(lane)};
  issue(commands[0], false);
  issue(commands[1]);
  issue(commands[2], false);
  complete(commands[1]);
  EXPECT_EQ(ended, (Nodes{commands[0], commands[1]}));
}

TEST_F(CommandGraphTest, ARefusedCommandHandsItsReportToTheUnobservedBeforeIt) {
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

TEST_F(CommandGraphTest, ARefusedCommandBehindAnObservedOneNeedsNoOtherReport) {
  const auto lane = in_order();
  const Nodes commands{command(lane), command(lane), command(lane)};
  issue(commands[0], false);
  issue(commands[1]);
  issue(commands[2]);
  EXPECT_EQ(graph.refused(*commands[2], -54), nullptr);
}

TEST_F(CommandGraphTest, AWaitWithinADeviceIsLeftToTheDriverOnceTheOtherIsIssued) {
  const auto first = command(in_order());
  const auto second = command(in_order(), {first});
  EXPECT_FALSE(second->ready());
  issue(first);
  EXPECT_TRUE(second->ready());
  ASSERT_EQ(second->driver_waits().size(), 1U);
  EXPECT_EQ(second->driver_waits().front(), first);
}

TEST_F(CommandGraphTest, WhatHasWaitedEndsAfterWhatItWaitedForEvenIfReportsComeTheOtherWayRound) {
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
    EXPECT_EQ(ended, Nodes{}) << "whoever sees the end of the third may look at what the first has read";
    complete(first);
    EXPECT_EQ(ended, (Nodes{first, second, third}));
  }
}

TEST_F(CommandGraphTest, AReportCoversAnUnobservedCommandForWhichItsOwnCommandHasWaited) {
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

TEST_F(CommandGraphTest, AWaitAcrossDevicesEndsWithTheOther) {
  const auto first = command(in_order(0));
  const auto second = command(in_order(1), {first});
  issue(first);
  EXPECT_FALSE(second->ready());
  complete(first);
  EXPECT_TRUE(second->ready());
  EXPECT_TRUE(second->driver_waits().empty());
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
// the other queue nor the thread that sets the event would ever come through.
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

TEST_F(CommandGraphTest, TwoQueuesThatWaitForEachOthersUserEventsComeThrough) {
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

TEST_F(CommandGraphTest, AMarkerOfAnEmptyQueueEndsAtOnce) {
  EXPECT_TRUE(marker(in_order())->ended());
  EXPECT_TRUE(marker(out_of_order())->ended());
  EXPECT_TRUE(barrier(out_of_order())->ended());
}

TEST_F(CommandGraphTest, AnOutOfOrderQueueReadiesWhatWaitsForNothing) {
  const auto lane = out_of_order();
  const auto event = user_event();
  const auto waiting = command(lane, {event});
  const auto free = command(lane);
  EXPECT_EQ(ready, Nodes{free});
  run(free);
  EXPECT_TRUE(free->ended());
  EXPECT_FALSE(waiting->ended());
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

TEST_F(CommandGraphTest, ALaunchOfNothingWaitsForWhatALaunchWouldWaitFor) {
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

TEST_F(CommandGraphTest, AMarkerWithAWaitListWaitsForThatAlone) {
  const auto lane = out_of_order();
  const auto named = command(lane);
  const auto other = command(lane);
  const auto mark = marker(lane, {named});
  run(named);
  EXPECT_TRUE(mark->ended());
  EXPECT_FALSE(other->ended());
}

TEST_F(CommandGraphTest, ABarrierHoldsUpWhatComesAfterIt) {
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

TEST_F(CommandGraphTest, AnErrorGoesDownWaitListsAndNothingOfItIsIssued) {
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

TEST_F(CommandGraphTest, AFailedUserEventEndsWhatWaitsForIt) {
  const auto event = user_event();
  const auto waiting = command(in_order(), {event});
  set(event, -42);
  EXPECT_EQ(waiting->status(), kWaitListFailed);
}

TEST_F(CommandGraphTest, AWaitThatFailsEndsAsTheDriverOfTheLaneHasIt) {
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

TEST_F(CommandGraphTest, AWaitThatFailsIsNoneWhereTheDriverIgnoresIt) {
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

TEST_F(CommandGraphTest, ANodeThatIsToFailEndsInItsTurn) {
  const auto lane = in_order();
  const auto before = command(lane);
  auto refused = std::make_shared<Node>(Work::device, lane);
  refused->fail(kOutOfResources);
  graph.add(refused, {}, false, 0);
  take();
  EXPECT_FALSE(refused->ended()) << "the one before it has not";
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

// Found by the random test: what is behind a ready command was ready too, and stayed so when that one failed.
TEST_F(CommandGraphTest, NothingOvertakesACommandOfItsQueueThatAnErrorMayStillReach) {
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

TEST_F(CommandGraphTest, ACommandBehindOneThatWaitsIsReadyOnceThatIsIssued) {
  const auto queue = in_order();
  const auto first = command(out_of_order());
  issue(first);
  const auto waiting = command(queue, {first});
  const auto behind = command(queue);
  EXPECT_FALSE(behind->ready());
  issue(waiting);
  EXPECT_TRUE(behind->ready()) << "the driver keeps the order";
}

TEST_F(CommandGraphTest, TheOrderOfAnInOrderQueuePassesNoErrorOn) {
  const auto lane = in_order();
  const auto failing = command(lane);
  const auto behind = command(lane);
  const auto mark = marker(lane);
  run(failing, -5);
  run(behind);
  EXPECT_EQ(behind->status(), kComplete);
  EXPECT_EQ(mark->status(), kComplete);
}

TEST_F(CommandGraphTest, ADoomedCommandOfAnInOrderQueueEndsInItsTurn) {
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

TEST_F(CommandGraphTest, APoisonedCommandEndsWithItsErrorOnceItsWaitListHasEnded) {
  const auto event = user_event();
  const auto poisoned = add(Work::device, out_of_order(), {event}, -4);
  EXPECT_FALSE(poisoned->ended());
  set(event);
  EXPECT_EQ(poisoned->status(), -4);
  EXPECT_FALSE(poisoned->was_issued());
}

TEST_F(CommandGraphTest, AVeryLongChainUnwindsWithoutRecursion) {
  const auto event = user_event();
  const auto lane = out_of_order();
  NodePtr last = event;
  for (int i = 0; i < 200'000; ++i) last = marker(lane, {last});
  set(event, -1);
  EXPECT_EQ(last->status(), kWaitListFailed);
  EXPECT_EQ(graph.pending(), 0U);
}

TEST_F(CommandGraphTest, WhatHasEndedIsForgotten) {
  std::weak_ptr<Node> forgotten;
  std::weak_ptr<Node> forgotten_out_of_order;
  const auto lane = in_order();
  const auto free_lane = out_of_order();
  {
    const auto first = command(lane);
    const auto second = command(free_lane, {first});
    run(first);
    run(second);
    forgotten = first;
    forgotten_out_of_order = second;
  }
  ready.clear();
  ended.clear();
  EXPECT_TRUE(forgotten.expired());
  EXPECT_TRUE(forgotten_out_of_order.expired()) << "its queue still lives, but has no use for it";
}

// The driver knows a command by its address. A marker takes over the queue's list of open commands, which
// must not have been what kept them alive.
TEST_F(CommandGraphTest, ACommandInFlightStaysAliveWhenAMarkerFollowsIt) {
  const auto lane = out_of_order();
  std::weak_ptr<Node> running;
  {
    const auto node = command(lane);
    issue(node);
    running = node;
  }
  const auto mark = marker(lane);
  ready.clear();
  ASSERT_FALSE(running.expired());
  complete(running.lock());
  EXPECT_TRUE(mark->ended());
}

// ---- what ends by itself

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

TEST_F(CommandGraphTest, AnEventThatIsNamedTwiceIsWaitedForTwice) {
  const auto first = command(out_of_order());
  const auto second = command(out_of_order(), {first, first});
  EXPECT_TRUE(moves(second));
}

TEST_F(CommandGraphTest, NodesThatAreUnderWayEndByThemselves) {
  const auto lane = in_order();
  const auto running = command(lane);
  const auto next = command(lane);
  issue(running);
  EXPECT_TRUE(moves(running));
  EXPECT_TRUE(moves(next));
  complete(running);
  EXPECT_EQ(moving(), Nodes{next});
}

TEST_F(CommandGraphTest, AnAccessEndsByItselfUnlessCodeOfTheProgramEndsIt) {
  const auto copying = in_order();
  const auto copy = access(copying);
  const auto after_copy = command(copying);
  const auto calling = in_order();
  const auto call = std::make_shared<Node>(Work::access, calling);
  call->program_ends = true;
  graph.add(call, {}, false, false);
  take();
  const auto after_call = command(calling);
  for (const auto& node : {copy, after_copy}) EXPECT_TRUE(moves(node));
  for (const auto& node : {call, after_call}) EXPECT_FALSE(moves(node));
  end(call);
  EXPECT_TRUE(moves(after_call));
}

TEST(CommandGraph, AGraphThatEndsLetsGoOfWhatIsPending) {
  std::weak_ptr<Node> pending;
  const auto lane = std::make_shared<Lane>(true, 0);
  {
    CommandGraph graph;
    const auto first = std::make_shared<Node>(Work::device, lane);
    const auto second = std::make_shared<Node>(Work::device, std::make_shared<Lane>(false, 0));
    graph.add(first, {}, false, 0);
    graph.add(second, std::vector{first}, true, 0);
    pending = second;
  }
  EXPECT_TRUE(pending.expired());
}

}  // namespace
}  // namespace fairgv::vgpu
