// The shape of graphs: orders, cycles, and which nodes of two graphs correspond.
#include "cuda-shim/api/graph/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace {

using fairgv::cuda::Dependencies;
using fairgv::cuda::pair_nodes;
using fairgv::cuda::topological_order;
using Random = std::mt19937;

std::size_t below(Random& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

std::vector<std::size_t> shuffled(Random& random, std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  std::ranges::shuffle(numbers, random);
  return numbers;
}

/// A graph without cycles; node numbers say nothing about the order.
Dependencies random_graph(Random& random, std::size_t count) {
  const auto place = shuffled(random, count);
  Dependencies graph(count);
  for (std::size_t to = 1; to < count; ++to) {
    for (std::size_t edges = below(random, 4); edges > 0; --edges) {
      const std::size_t from = place[below(random, to)];
      auto& list = graph[place[to]];
      if (std::ranges::find(list, from) == list.end()) list.push_back(from);
    }
  }
  return graph;
}

/// The same graph with other numbers. Exit nodes keep their order, as in programs that build the graph anew.
Dependencies renumbered(const Dependencies& graph, const std::vector<std::size_t>& number) {
  Dependencies result(graph.size());
  for (std::size_t node = 0; node < graph.size(); ++node) {
    for (const std::size_t from : graph[node]) result[number[node]].push_back(number[from]);
  }
  return result;
}

std::vector<std::size_t> exits(const Dependencies& graph) {
  std::vector<std::size_t> list;
  for (std::size_t node = 0; node < graph.size(); ++node) {
    const bool needed = std::ranges::any_of(
        graph, [node](const auto& from) { return std::ranges::find(from, node) != from.end(); });
    if (!needed) list.push_back(node);
  }
  return list;
}

/// New numbers that keep the order of the exit nodes.
std::vector<std::size_t> numbers_that_keep_exits(Random& random, const Dependencies& graph) {
  auto number = shuffled(random, graph.size());
  const auto ends = exits(graph);
  std::vector<std::size_t> of_ends;
  for (const std::size_t node : ends) of_ends.push_back(number[node]);
  std::ranges::sort(of_ends);
  for (std::size_t at = 0; at < ends.size(); ++at) number[ends[at]] = of_ends[at];
  return number;
}

}  // namespace

class Topology : public testing::Test {
 protected:
  void SetUp() override { RecordProperty("seed", static_cast<int>(seed_)); }
  const unsigned seed_ = std::random_device{}();
  Random random_{seed_};
  const testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
};

TEST_F(Topology, EveryNodeComesOnceAndBehindItsDependencies) {
  for (int round = 0; round < 200; ++round) {
    const auto graph = random_graph(random_, 1 + below(random_, 60));
    const auto order = topological_order(graph);
    ASSERT_FALSE(order.on_cycle);
    ASSERT_EQ(graph.size(), order.nodes.size());
    std::vector<std::size_t> place(graph.size(), graph.size());
    for (std::size_t at = 0; at < order.nodes.size(); ++at) place[order.nodes[at]] = at;
    for (std::size_t node = 0; node < graph.size(); ++node) {
      ASSERT_LT(place[node], graph.size()) << "a node that never runs";
      for (const std::size_t from : graph[node]) ASSERT_LT(place[from], place[node]);
    }
  }
}

TEST_F(Topology, IndependentNodesKeepTheOrderOfTheirAdding) {
  EXPECT_EQ((std::vector<std::size_t>{0, 1, 2, 3}), topological_order(Dependencies(4)).nodes);
  EXPECT_EQ((std::vector<std::size_t>{1, 2, 0, 3}), topological_order({{2}, {}, {}, {1}}).nodes);
  EXPECT_TRUE(topological_order({}).nodes.empty());
}

TEST_F(Topology, ACycleIsFoundAndOneOfItsNodesNamed) {
  for (int round = 0; round < 200; ++round) {
    auto graph = random_graph(random_, 3 + below(random_, 40));
    const auto place = shuffled(random_, graph.size());
    const std::size_t length = 2 + below(random_, graph.size() - 2);
    for (std::size_t at = 0; at < length; ++at) {
      auto& list = graph[place[at]];
      const std::size_t from = place[(at + 1) % length];
      if (std::ranges::find(list, from) == list.end()) list.push_back(from);
    }
    const auto order = topological_order(graph);
    ASSERT_TRUE(order.on_cycle);
    EXPECT_TRUE(order.nodes.empty());
    // Going back from the node on the cycle comes to that node again.
    std::vector<bool> reached(graph.size(), false);
    std::vector<std::size_t> next = graph[*order.on_cycle];
    while (!next.empty()) {
      const std::size_t node = next.back();
      next.pop_back();
      if (reached[node]) continue;
      reached[node] = true;
      next.insert(next.end(), graph[node].begin(), graph[node].end());
    }
    EXPECT_TRUE(reached[*order.on_cycle]);
  }
}

TEST_F(Topology, AGraphBuiltAnewCorrespondsNodeByNode) {
  for (int round = 0; round < 200; ++round) {
    const auto graph = random_graph(random_, 1 + below(random_, 40));
    const auto number = numbers_that_keep_exits(random_, graph);
    const auto pairing = pair_nodes(graph, renumbered(graph, number));
    ASSERT_TRUE(pairing.corresponds);
    for (std::size_t node = 0; node < graph.size(); ++node) ASSERT_EQ(node, pairing.old_of_new[number[node]]);
  }
}

TEST_F(Topology, WhatIsPairedHasTheSameEdgesWhateverTheGraphs) {
  int differed = 0;
  for (int round = 0; round < 400; ++round) {
    const auto graph = random_graph(random_, 2 + below(random_, 12));
    auto other = renumbered(graph, numbers_that_keep_exits(random_, graph));
    auto& list = other[below(random_, other.size())];
    if (!list.empty()) list.erase(list.begin() + static_cast<std::ptrdiff_t>(below(random_, list.size())));
    const auto pairing = pair_nodes(graph, other);
    if (!pairing.corresponds) {
      ++differed;
      EXPECT_TRUE(pairing.old_of_new.empty());
      if (pairing.node) {
        EXPECT_LT(*pairing.node, other.size());
      }
      continue;
    }
    for (std::size_t node = 0; node < other.size(); ++node) {
      std::vector<std::size_t> from;
      for (const std::size_t of_new : other[node]) from.push_back(pairing.old_of_new[of_new]);
      ASSERT_EQ(graph[pairing.old_of_new[node]], from);
    }
  }
  EXPECT_GT(differed, 0);
}

TEST_F(Topology, TheDifferenceOfTwoGraphsIsNamedAsTheManualSays) {
  const Dependencies chain{{}, {0}, {1}};
  // Another number of nodes: no particular node differs.
  EXPECT_FALSE(pair_nodes(chain, {{}, {0}}).corresponds);
  EXPECT_FALSE(pair_nodes(chain, {{}, {0}}).node);
  // More exit nodes.
  EXPECT_EQ(std::optional<std::size_t>(2), pair_nodes(chain, {{}, {0}, {0}}).node);
  // Another number of dependencies.
  EXPECT_EQ(std::optional<std::size_t>(2), pair_nodes(chain, {{}, {0}, {1, 0}}).node);
  // A dependency on another node.
  const Dependencies diamond{{}, {0}, {0}, {1, 2}};
  const auto crossed = pair_nodes(diamond, {{}, {}, {1}, {2, 0}});
  EXPECT_FALSE(crossed.corresponds);
  ASSERT_TRUE(crossed.node);
}
