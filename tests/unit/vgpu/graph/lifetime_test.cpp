// The time for which the command graph keeps its nodes alive.
#include "tests/unit/vgpu/graph/command_graph_fixture.hpp"

namespace fairgv::vgpu {
namespace {

TEST_F(CommandGraphTest, ANodeThatHasEndedIsFreed) {
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
// must not have been the only thing that kept them alive.
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

TEST(CommandGraph, AGraphThatIsDestroyedFreesItsPendingNodes) {
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
