// A command graph whose commands the test issues and ends.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/vgpu/graph/command_graph.hpp"

namespace fairgv::vgpu {

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

}  // namespace fairgv::vgpu
