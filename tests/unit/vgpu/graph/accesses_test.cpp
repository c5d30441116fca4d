// Accesses: nodes that the front end carries out itself when they are granted.
#include "tests/unit/vgpu/graph/command_graph_fixture.hpp"

namespace fairgv::vgpu {
namespace {

TEST_F(CommandGraphTest, AnAccessIsGrantedWhenAllCommandsBeforeItHaveEndedAndHoldsBackAllBehindIt) {
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

TEST_F(CommandGraphTest, AnAccessIsNotGrantedIfItsWaitListFailedOrItIsToFailItself) {
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

TEST_F(CommandGraphTest, AnAccessThatIsGivenUpTakesAllBehindItAlong) {
  const auto lane = in_order();
  const auto other = in_order();
  const NodePtr before = command(lane);
  const NodePtr wait = access(lane);
  const Nodes behind{command(lane), marker(lane), access(lane), command(lane)};
  const NodePtr named = command(other, {behind[0]});
  const NodePtr free = command(other);
  run(before);
  ASSERT_TRUE(wait->granted());
  graph.give_up_access(*wait, -99);
  take();
  EXPECT_EQ(before->status(), kComplete);
  EXPECT_EQ(wait->status(), -99);
  for (const NodePtr& node : behind) {
    EXPECT_TRUE(node->ended());
    EXPECT_EQ(node->status(), -99);
    EXPECT_FALSE(node->was_issued());
    EXPECT_FALSE(node->granted());
  }
  EXPECT_EQ(named->status(), kWaitListFailed);
  EXPECT_TRUE(free->ready());
  EXPECT_TRUE(command(lane)->ready()) << "what comes later runs";
}

}  // namespace
}  // namespace fairgv::vgpu
