// Conditional nodes of graphs: what runs, how often, and in which order.
#include <atomic>
#include <numeric>
#include <random>

#include "tests/cuda/softcuda/graph/conditional_fixture.hpp"

namespace {

struct Choice {
  CUgraphConditionalNodeType type;
  unsigned size;
  std::vector<unsigned> digits;  // by the value: what the bodies append; 0: nothing
};

TEST_F(Conditionals, EachKindRunsTheBodyThatItsValueChooses) {
  const Choice choices[] = {{CU_GRAPH_COND_TYPE_IF, 1, {0, 1, 1}},
                            {CU_GRAPH_COND_TYPE_IF, 2, {2, 1, 1, 1}},
                            {CU_GRAPH_COND_TYPE_SWITCH, 1, {1, 0, 0}},
                            {CU_GRAPH_COND_TYPE_SWITCH, 4, {1, 2, 3, 4, 0, 0}}};
  for (const Choice& choice : choices) {
    CUgraph graph = nullptr;
    ASSERT_OK(cuGraphCreate(&graph, 0));
    const auto handle = handle_of(graph);
    const CUgraphNode set = kernel(graph, {append(graph, {}, 8)}, "set", handle, 0U);
    CUgraphNode node = nullptr;
    const auto bodies = conditional(graph, {set}, handle, choice.type, choice.size, &node);
    ASSERT_EQ(choice.size, bodies.size());
    for (unsigned body = 0; body < choice.size; ++body) append(bodies[body], {}, body + 1);
    append(graph, {node}, 9);
    const CUgraphExec executable = instantiate(graph);
    for (unsigned value = 0; value < choice.digits.size(); ++value) {
      EXPECT_OK(change(executable, set, "set", handle, value));
      const unsigned digit = choice.digits[value];
      EXPECT_EQ(digit == 0 ? 89U : 809U + digit * 10, number_after(executable))
          << choice.type << " of " << choice.size << " with " << value;
    }
    EXPECT_OK(change(executable, set, "set", handle, ~0U));
    EXPECT_EQ(choice.type == CU_GRAPH_COND_TYPE_IF ? 819U : 89U, number_after(executable));
    EXPECT_OK(cuGraphExecDestroy(executable));
    EXPECT_OK(cuGraphDestroy(graph));
  }
}

TEST_F(Conditionals, ALoopRunsAsOftenAsItsConditionSays) {
  const CUdeviceptr words = allocate(8);
  const auto handle = handle_of(graph_);
  const CUgraphNode start = fill(graph_, {}, words, 0);
  const CUgraphNode first = kernel(graph_, {start}, "decide", handle, words, 1000000U);
  CUgraphNode node = nullptr;
  const auto bodies = conditional(graph_, {first}, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &node);
  kernel(bodies.at(0), {kernel(bodies[0], {}, "count", words + 4)}, "tick", handle, words);
  append(graph_, {node}, 7);
  const CUgraphExec executable = instantiate(graph_);
  for (const unsigned times : {0U, 1U, 2U, 3000U}) {
    const CUDA_MEMSET_NODE_PARAMS p{words, 0, times, 4, 1, 1};
    EXPECT_OK(cuGraphExecMemsetNodeSetParams(executable, start, &p, context_));
    EXPECT_OK(cuMemsetD32(words + 4, 0, 1));
    EXPECT_EQ(7U, number_after(executable));
    EXPECT_EQ((std::vector<unsigned>{0, times}), download<unsigned>(words, 2));
  }
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Conditionals, DefaultValuesAreAssignedAtEveryLaunchIfThatIsAskedFor) {
  const auto assigned = handle_of(graph_, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  const auto kept = handle_of(graph_, 1, 0);
  CUgraphNode nodes[2] = {};
  const auto first = conditional(graph_, {}, assigned, CU_GRAPH_COND_TYPE_IF, 2, &nodes[0]);
  const auto second = conditional(graph_, {nodes[0]}, kept, CU_GRAPH_COND_TYPE_IF, 2, &nodes[1]);
  const CUgraph bodies[] = {first.at(0), first.at(1), second.at(0), second.at(1)};
  for (unsigned body = 0; body < 4; ++body) append(bodies[body], {}, body + 1);
  const CUgraphNode change_assigned = kernel(graph_, {nodes[1]}, "set", assigned, 0U);
  kernel(graph_, {change_assigned}, "set", kept, 1U);
  const CUgraphExec executable = instantiate(graph_);
  (void)number_after(executable);
  EXPECT_EQ(1313U, number_after(executable, 2)) << "the second handle has what the launch before has set";
  EXPECT_OK(cuGraphExecDestroy(executable));
}

/// Random graphs, and what they do by a model on the host.
class RandomConditionals : public Conditionals {
 protected:
  static constexpr unsigned kMixed = 6;  // words that nodes mix; others are counters of loops
  using Words = std::vector<unsigned>;
  using Model = std::vector<std::function<void(Words&)>>;

  unsigned below(unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_); }
  CUdeviceptr word(unsigned number) const { return words_ + number * 4; }

  /// Fills the graph; `depth`: of conditional nodes within each other. Returns its last node.
  CUgraphNode build(CUgraph graph, std::vector<CUgraphNode> before, Model& model, int depth) {
    CUgraphNode last = before.empty() ? nullptr : before.front();
    const auto behind = [&last] { return last != nullptr ? std::vector{last} : std::vector<CUgraphNode>{}; };
    for (unsigned nodes = below(4); nodes-- > 0;) {
      const unsigned a = below(kMixed);
      const unsigned b = below(kMixed);
      const unsigned c = below(100);
      switch (below(depth > 0 ? 7 : 4)) {
        case 0:
        case 1:
          last = kernel(graph, behind(), "mix", word(a), word(b), c);
          model.push_back([=](Words& words) { words[a] = words[a] * 3 + words[b] + c; });
          break;
        case 2:
          last = fill(graph, behind(), word(a), c);
          model.push_back([=](Words& words) { words[a] = c; });
          break;
        case 3: {
          const CUDA_MEMCPY3D p =
              linear(CU_MEMORYTYPE_DEVICE, nullptr, word(a), CU_MEMORYTYPE_DEVICE, nullptr, word(b), 4);
          const auto earlier = behind();
          EXPECT_OK(cuGraphAddMemcpyNode(&last, graph, earlier.data(), earlier.size(), &p, context_));
          model.push_back([=](Words& words) { words[a] = words[b]; });
          break;
        }
        case 4:
          last = loop(graph, behind(), model, depth);
          break;
        case 5:
          last = choice(graph, behind(), model, depth, CU_GRAPH_COND_TYPE_IF, 1 + below(2));
          break;
        default:
          last = choice(graph, behind(), model, depth, CU_GRAPH_COND_TYPE_SWITCH, 1 + below(4));
      }
    }
    return last;
  }

  CUgraphNode loop(CUgraph graph, std::vector<CUgraphNode> before, Model& model, int depth) {
    const unsigned counter = kMixed + counters_++;
    const unsigned times = below(5);
    const auto handle = handle_of(graph);
    const CUgraphNode start = fill(graph, std::move(before), word(counter), times);
    const CUgraphNode first = kernel(graph, {start}, "decide", handle, word(counter), 1000U);
    CUgraphNode node = nullptr;
    const CUgraph body = conditional(graph, {first}, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &node).at(0);
    Model inner;
    const CUgraphNode last = build(body, {}, inner, depth - 1);
    kernel(body, last != nullptr ? std::vector{last} : std::vector<CUgraphNode>{}, "tick", handle,
           word(counter));
    model.push_back([=](Words& words) {
      for (words[counter] = times; words[counter] != 0; --words[counter]) run(inner, words);
    });
    return node;
  }

  CUgraphNode choice(CUgraph graph, std::vector<CUgraphNode> before, Model& model, int depth,
                     CUgraphConditionalNodeType type, unsigned size) {
    const unsigned a = below(kMixed);
    const unsigned modulus = type == CU_GRAPH_COND_TYPE_IF ? 2 : size + 1;
    const auto handle = handle_of(graph);
    const CUgraphNode first = kernel(graph, std::move(before), "decide", handle, word(a), modulus);
    CUgraphNode node = nullptr;
    const auto bodies = conditional(graph, {first}, handle, type, size, &node);
    std::vector<Model> inner(size);
    for (unsigned body = 0; body < size; ++body) build(bodies[body], {}, inner[body], depth - 1);
    model.push_back([=](Words& words) {
      unsigned body = words[a] % modulus;
      if (type == CU_GRAPH_COND_TYPE_IF) body = 1 - body;
      if (body < size) run(inner[body], words);
    });
    return node;
  }

  static void run(const Model& model, Words& words) {
    for (const auto& step : model) step(words);
  }

  std::mt19937 random_;
  unsigned counters_ = 0;
  CUdeviceptr words_ = 0;
};

TEST_F(RandomConditionals, RunAsAModelOnTheHostSays) {
  constexpr unsigned kMost = 400;
  words_ = allocate(kMost * 4);
  const unsigned seed = std::random_device{}();
  for (unsigned round = 0; round < 25; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    random_.seed(seed + round);
    counters_ = 0;
    Words words(kMost);
    for (unsigned at = 0; at < kMixed; ++at) words[at] = below(1000);
    CUgraph graph = nullptr;
    ASSERT_OK(cuGraphCreate(&graph, 0));
    Model model;
    CUgraphNode last = nullptr;
    for (int part = 0; part < 3; ++part)
      last = build(graph, last != nullptr ? std::vector{last} : std::vector<CUgraphNode>{}, model, 3);
    ASSERT_LT(kMixed + counters_, kMost);
    const CUgraphExec executable = instantiate(graph);
    EXPECT_OK(cuGraphDestroy(graph));
    upload(words_, words);
    for (int launches = 0; launches < 2; ++launches) {
      EXPECT_OK(cuGraphLaunch(executable, stream_));
      run(model, words);
    }
    EXPECT_OK(cuGraphExecDestroy(executable));
    EXPECT_OK(cuStreamSynchronize(stream_));
    ASSERT_EQ(words, download<unsigned>(words_, kMost));
  }
}

TEST_F(Conditionals, ChildGraphsAndCapturedCommandsAreBodies) {
  CUgraph child = nullptr;
  ASSERT_OK(cuGraphCreate(&child, 0));
  append(child, {append(child, {}, 1)}, 2);
  const auto handle = handle_of(graph_, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  const auto bodies = conditional(graph_, {}, handle, CU_GRAPH_COND_TYPE_IF, 2);
  CUgraphNode node = nullptr;
  ASSERT_OK(cuGraphAddChildGraphNode(&node, bodies.at(0), nullptr, 0, child));
  ASSERT_OK(
      cuStreamBeginCaptureToGraph(stream_, bodies[0], &node, nullptr, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUdeviceptr number = number_;
  unsigned result = 0;
  EXPECT_OK(launch("append", 1, 1, stream_, number, 3U));
  EXPECT_OK(cuMemcpyDtoHAsync(&result, number_, 4, stream_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph_)) << "a capture adds to a body";
  CUgraphExec executable = nullptr;
  EXPECT_CODE(CUDA_ERROR_ILLEGAL_STATE, cuGraphInstantiate(&executable, graph_, 0));
  CUgraph captured = nullptr;
  ASSERT_OK(cuStreamEndCapture(stream_, &captured));
  EXPECT_EQ(bodies[0], captured);
  executable = instantiate(graph_);
  EXPECT_EQ(123U, number_after(executable));
  EXPECT_EQ(123U, result) << "pageable memory is written in the body's turn";
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(child));
}

TEST_F(Conditionals, MemoryMayBeFreedBehindTheLaunchInItsStream) {
  CUdeviceptr words = 0;
  ASSERT_OK(cuMemAllocAsync(&words, 16, stream_));
  ASSERT_OK(cuStreamSynchronize(stream_));
  const auto handle = handle_of(graph_, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  const CUgraphNode start = fill(graph_, {fill(graph_, {}, words, 4)}, words + 8, 0);
  const auto bodies = conditional(graph_, {start}, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
  // Each round: 3 * 5 + the sum so far, copied there and to the program.
  const CUgraphNode filled = fill(bodies.at(0), {}, words + 4, 5);
  const CUgraphNode mixed = kernel(bodies[0], {filled}, "mix", words + 4, words + 8, 0U);
  const CUDA_MEMCPY3D sum =
      linear(CU_MEMORYTYPE_DEVICE, nullptr, words + 8, CU_MEMORYTYPE_DEVICE, nullptr, words + 4, 4);
  unsigned result = 0;
  const CUDA_MEMCPY3D out = download_of(&result, words + 8, 4);
  CUgraphNode copied = nullptr;
  CUgraphNode told = nullptr;
  ASSERT_OK(cuGraphAddMemcpyNode(&copied, bodies[0], &mixed, 1, &sum, context_));
  ASSERT_OK(cuGraphAddMemcpyNode(&told, bodies[0], &copied, 1, &out, context_));
  kernel(bodies[0], {told}, "tick", handle, words);
  const CUgraphExec executable = instantiate(graph_);
  Gate gate;
  ASSERT_OK(gate.close(stream_));
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuMemFreeAsync(words, stream_));
  EXPECT_OK(cuGraphExecDestroy(executable));
  gate.open();
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(60U, result);
}

TEST_F(Conditionals, TheLaunchWaitsForNothing) {
  const CUdeviceptr words = allocate(8);
  const auto handle = handle_of(graph_, 3, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraphNode node = nullptr;
  const auto bodies =
      conditional(graph_, {fill(graph_, {}, words, 3)}, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &node);
  kernel(bodies.at(0), {append(bodies[0], {}, 5)}, "tick", handle, words);
  append(graph_, {node}, 6);
  const CUgraphExec executable = instantiate(graph_);
  CUstream blocking = nullptr;
  ASSERT_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  for (CUstream stream : {stream_, blocking, CU_STREAM_LEGACY}) {
    EXPECT_OK(cuMemsetD32(number_, 0, 1));
    EXPECT_OK(cuCtxSynchronize());
    Gate gate;
    ASSERT_OK(gate.close(stream));
    EXPECT_OK(cuGraphLaunch(executable, stream));
    EXPECT_OK(launch("append", 1, 1, stream, number_, 7U));
    EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    gate.open();
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ(55567U, download<unsigned>(number_, 1)[0]);
  }
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Conditionals, ManyLaunchesInManyStreams) {
  constexpr unsigned kStreams = 6;
  constexpr unsigned kLaunches = 40;
  const CUdeviceptr words = allocate(kStreams * 8);
  ASSERT_OK(cuMemsetD32(words, 0, kStreams * 2));
  std::vector<CUgraphExec> executables;
  std::vector<CUstream> streams(kStreams);
  for (unsigned at = 0; at < kStreams; ++at) {
    ASSERT_OK(cuStreamCreate(&streams[at], at % 2 == 0 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    CUgraph graph = nullptr;
    ASSERT_OK(cuGraphCreate(&graph, 0));
    const auto handle = handle_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    const CUdeviceptr counter = words + at * 8;
    const auto bodies =
        conditional(graph, {fill(graph, {}, counter, 5)}, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
    kernel(bodies.at(0), {kernel(bodies[0], {}, "count", counter + 4)}, "tick", handle, counter);
    executables.push_back(instantiate(graph));
    EXPECT_OK(cuGraphDestroy(graph));
  }
  for (unsigned time = 0; time < kLaunches; ++time) {
    // Each in another stream than before: launches of one executable graph follow each other.
    for (unsigned at = 0; at < kStreams; ++at)
      ASSERT_OK(cuGraphLaunch(executables[at], streams[(at + time) % kStreams]));
  }
  EXPECT_OK(cuCtxSynchronize());
  std::vector<unsigned> expected;
  for (unsigned at = 0; at < kStreams; ++at) expected.insert(expected.end(), {0, 5 * kLaunches});
  EXPECT_EQ(expected, download<unsigned>(words, kStreams * 2));
  for (CUgraphExec executable : executables) EXPECT_OK(cuGraphExecDestroy(executable));
}

}  // namespace
