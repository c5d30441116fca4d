// Conditional nodes of graphs: what is refused, what may be changed, and how they end before their time.
#include "tests/cuda/softcuda/graph/conditional_fixture.hpp"

namespace {

TEST_F(Conditionals, AHandleIsForOneNodeOfItsGraphOrWithinIt) {
  CUgraph other = nullptr;
  ASSERT_OK(cuGraphCreate(&other, 0));
  CUgraphConditionalHandle handle = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(nullptr, graph_, context_, 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(&handle, nullptr, context_, 0, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(&handle, graph_, context_, 0, 2));
  handle = handle_of(graph_);
  const auto unknown = handle_of(other);
  CUgraphExec executable = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS told{};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&executable, graph_, &told));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, told.result_out);

  constexpr auto kIf = CU_GRAPH_COND_TYPE_IF;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, try_conditional(graph_, handle + 1, kIf, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, try_conditional(graph_, unknown, kIf, 1)) << "another graph's";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, try_conditional(graph_, handle, kIf, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, try_conditional(graph_, handle, kIf, 3));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, try_conditional(graph_, handle, CU_GRAPH_COND_TYPE_WHILE, 2));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, try_conditional(graph_, handle, CU_GRAPH_COND_TYPE_SWITCH, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              try_conditional(graph_, handle, static_cast<CUgraphConditionalNodeType>(3), 1));
  CUcontext elsewhere = nullptr;
  ASSERT_OK(cuCtxCreate(&elsewhere, nullptr, 0, device_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, try_conditional(graph_, handle, kIf, 1, elsewhere));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, try_conditional(graph_, handle, kIf, 1)) << "the current context";
  EXPECT_OK(cuCtxDestroy(elsewhere));
  EXPECT_OK(cuCtxSetCurrent(context_));

  CUgraphNode node = nullptr;
  const auto bodies = conditional(graph_, {}, handle, kIf, 1, &node);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, try_conditional(graph_, handle, kIf, 1)) << "a second node";
  CUgraphNodeType type{};
  EXPECT_OK(cuGraphNodeGetType(node, &type));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_CONDITIONAL, type);
  const auto nested = handle_of(graph_);
  conditional(bodies.at(0), {}, nested, kIf, 1);  // within its graph
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, try_conditional(graph_, handle_of(bodies[0]), kIf, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(bodies[0])) << "it is the node's";
  EXPECT_OK(cuGraphDestroyNode(node));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphGetNodes(bodies[0], nullptr, nullptr)) << "gone with the node";
  conditional(graph_, {}, handle, kIf, 2);  // the handles are free again
  conditional(graph_, {}, nested, kIf, 1);
  EXPECT_OK(cuGraphDestroy(other));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, try_conditional(graph_, unknown, kIf, 1)) << "gone with its graph";
}

TEST_F(Conditionals, BodiesHoldWorkOfTheDeviceAlone) {
  const auto body = conditional(graph_, {}, handle_of(graph_), CU_GRAPH_COND_TYPE_WHILE, 1).at(0);
  CUgraph child = nullptr;
  ASSERT_OK(cuGraphCreate(&child, 0));
  append(child, {}, 1);
  CUgraphNode node = nullptr;
  ASSERT_OK(cuGraphAddChildGraphNode(&node, body, nullptr, 0, child));
  CUgraph inner = nullptr;
  ASSERT_OK(cuGraphChildGraphNodeGetGraph(node, &inner));
  const CUDA_HOST_NODE_PARAMS host{[](void*) {}, nullptr};
  CUevent event = nullptr;
  ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CUDA_MEM_ALLOC_NODE_PARAMS memory{};
  memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  memory.poolProps.location.id = device_;
  memory.bytesize = 64;
  for (CUgraph graph : {body, inner}) {
    EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
    EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddEventRecordNode(&node, graph, nullptr, 0, event));
    EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddEventWaitNode(&node, graph, nullptr, 0, event));
    EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory));
    ASSERT_OK(
        cuStreamBeginCaptureToGraph(stream_, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuLaunchHostFunc(stream_, host.fn, nullptr));
    CUgraph captured = nullptr;
    EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream_, &captured));
  }
  EXPECT_OK(cuGraphAddHostNode(&node, child, nullptr, 0, &host));
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddChildGraphNode(&node, body, nullptr, 0, child));
  EXPECT_EQ(1U, nodes_of(body).size());
  EXPECT_OK(cuGraphDestroy(child));
  EXPECT_OK(cuEventDestroy(event));
}

TEST_F(Conditionals, AGraphWithThemIsOneOfAKind) {
  const auto handle = handle_of(graph_, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraphNode node = nullptr;
  const auto bodies = conditional(graph_, {}, handle, CU_GRAPH_COND_TYPE_IF, 1, &node);
  append(bodies.at(0), {}, 4);
  CUgraph other = nullptr;
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphClone(&other, graph_));
  ASSERT_OK(cuGraphCreate(&other, 0));
  CUgraphNode child = nullptr;
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddChildGraphNode(&child, other, nullptr, 0, graph_));
  CUgraphExec executable = instantiate(graph_);
  CUgraphExec second = nullptr;
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiate(&second, graph_, 0));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetEnabled(executable, node, 0));
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  p.conditional = {handle, CU_GRAPH_COND_TYPE_IF, 1, nullptr, context_};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(node, &p));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphExecNodeSetParams(executable, node, &p));
  ASSERT_OK(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuGraphLaunch(executable, stream_));
  CUgraph captured = nullptr;
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream_, &captured));
  // The next one may be made while launches of the destroyed one are under way; they share the handle.
  CUstream next = nullptr;
  ASSERT_OK(cuStreamCreate(&next, CU_STREAM_NON_BLOCKING));
  Gate gate;
  ASSERT_OK(gate.close(stream_));
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuGraphExecDestroy(executable));
  executable = instantiate(graph_);
  EXPECT_OK(cuGraphLaunch(executable, next));
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(next));
  gate.open();
  EXPECT_OK(cuStreamSynchronize(next));
  EXPECT_EQ(44U, download<unsigned>(number_, 1)[0]);
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(other));
  EXPECT_OK(cuStreamDestroy(next));
}

TEST_F(Conditionals, NodesWithinBodiesAreChangedLikeOthers) {
  const auto handle = handle_of(graph_, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  const auto bodies = conditional(graph_, {}, handle, CU_GRAPH_COND_TYPE_IF, 2);
  const CUgraphNode node = append(bodies.at(0), {}, 1);
  append(bodies[1], {}, 2);
  const CUgraphExec executable = instantiate(graph_);
  const Append three(*this, 3);
  const Append four(*this, 4);
  EXPECT_OK(cuGraphExecKernelNodeSetParams(executable, node, &three.node));
  EXPECT_EQ(3U, number_after(executable));
  EXPECT_OK(cuGraphNodeSetEnabled(executable, node, 0));
  EXPECT_EQ(0U, number_after(executable));
  EXPECT_OK(cuGraphNodeSetEnabled(executable, node, 1));
  // A launch has what there was when it was called.
  EXPECT_OK(cuMemsetD32Async(number_, 0, 1, stream_));
  Gate gate;
  ASSERT_OK(gate.close(stream_));
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuGraphExecKernelNodeSetParams(executable, node, &four.node));
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  gate.open();
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(34U, download<unsigned>(number_, 1)[0]);

  // Another graph of the same shape: its handle and its default value come with it.
  const auto like = [&](unsigned value, CUgraphConditionalNodeType type, unsigned digit) {
    CUgraph graph = nullptr;
    EXPECT_OK(cuGraphCreate(&graph, 0));
    const auto its = handle_of(graph, value, CU_GRAPH_COND_ASSIGN_DEFAULT);
    const auto inner = conditional(graph, {}, its, type, 2);
    append(inner.at(0), {}, digit);
    append(inner[1], {}, digit + 1);
    return graph;
  };
  CUgraph same = like(0, CU_GRAPH_COND_TYPE_IF, 5);
  CUgraph of_other_type = like(0, CU_GRAPH_COND_TYPE_SWITCH, 7);
  CUgraphExecUpdateResultInfo told{};
  EXPECT_OK(cuGraphExecUpdate(executable, same, &told));
  EXPECT_OK(cuGraphDestroy(same));
  EXPECT_EQ(6U, number_after(executable));
  EXPECT_CODE(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(executable, of_other_type, &told));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, told.result);
  EXPECT_OK(cuGraphDestroy(of_other_type));
  CUgraph circular = like(1, CU_GRAPH_COND_TYPE_IF, 7);
  const auto circle = conditional(circular, {}, handle_of(circular), CU_GRAPH_COND_TYPE_WHILE, 1);
  const CUgraphNode one = append(circle.at(0), {}, 1);
  const CUgraphNode inner[] = {one, append(circle[0], {one}, 2)};
  EXPECT_OK(cuGraphAddDependencies(circle[0], &inner[1], &inner[0], nullptr, 1));
  EXPECT_CODE(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(executable, circular, &told));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, told.result);
  EXPECT_TRUE(told.errorNode == inner[0] || told.errorNode == inner[1]);
  CUgraphExec of_circle = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&of_circle, circular, 0));
  EXPECT_OK(cuGraphDestroy(circular));
  EXPECT_EQ(6U, number_after(executable));
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Conditionals, ALaunchOutlivesItsGraphs) {
  const CUdeviceptr words = allocate(8);
  const auto handle = handle_of(graph_, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  CUgraphNode node = nullptr;
  const auto bodies =
      conditional(graph_, {fill(graph_, {}, words, 100)}, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &node);
  kernel(bodies.at(0), {kernel(bodies[0], {}, "count", words + 4)}, "tick", handle, words);
  kernel(graph_, {append(graph_, {node}, 3)}, "set", handle, 1U);
  ASSERT_OK(cuMemsetD32(words + 4, 0, 1));
  const CUgraphExec executable = instantiate(graph_);
  Gate gate;
  ASSERT_OK(gate.close(stream_));
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph_));
  graph_ = nullptr;
  gate.open();
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(3U, download<unsigned>(number_, 1)[0]);
  EXPECT_EQ(100U, download<unsigned>(words + 4, 1)[0]);
}

TEST_F(Conditionals, AnEndlessLoopHoldsUpNothingElseAndEndsWithItsContext) {
  std::uint32_t* words = nullptr;
  ASSERT_OK(cuMemHostAlloc(reinterpret_cast<void**>(&words), 64, CU_MEMHOSTALLOC_PORTABLE));
  words[0] = words[1] = 0;
  CUcontext own = context_;
  ASSERT_OK(cuCtxCreate(&context_, nullptr, 0, device_));
  // A module and a graph of the context that is to end.
  CUmodule kept = setters_;
  Conditionals::load();
  CUgraph graph = nullptr;
  ASSERT_OK(cuGraphCreate(&graph, 0));
  CUdeviceptr word = 0;
  ASSERT_OK(cuMemHostGetDevicePointer(&word, words, 0));
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const CUgraphExec executable = endless(graph, word);
  EXPECT_OK(cuGraphLaunch(executable, stream));
  EXPECT_OK(cuGraphLaunch(executable, stream));  // which waits behind
  wait_for_more(words[0]);
  EXPECT_CODE(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  EXPECT_OK(cuMemsetD32(word + 4, 9, 1));
  EXPECT_OK(cuStreamSynchronize(nullptr)) << "other streams go on";
  EXPECT_EQ(9U, words[1]);
  wait_for_more(words[0]);
  EXPECT_OK(cuCtxDestroy(context_));
  const std::uint32_t last = words[0];
  context_ = own;
  setters_ = kept;
  EXPECT_OK(cuCtxSetCurrent(context_));
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph));
  // The other context's graphs go on.
  conditional(graph_, {}, handle_of(graph_, 1, CU_GRAPH_COND_ASSIGN_DEFAULT), CU_GRAPH_COND_TYPE_IF, 1);
  append(graph_, {}, 2);
  const CUgraphExec next = instantiate(graph_);
  EXPECT_EQ(2U, number_after(next));
  EXPECT_EQ(last, words[0]) << "the loop has ended";
  EXPECT_OK(cuGraphExecDestroy(next));
  EXPECT_OK(cuMemFreeHost(words));
}

TEST_F(Conditionals, AFailureInABodyEndsItsLoop) {
  if (is_tenant()) GTEST_SKIP() << "it is the whole process' failure: TenantLoop has this";
  std::uint32_t* words = nullptr;
  ASSERT_OK(cuMemHostAlloc(reinterpret_cast<void**>(&words), 64, 0));
  words[0] = words[1] = 0;
  CUdeviceptr word = 0;
  ASSERT_OK(cuMemHostGetDevicePointer(&word, words, 0));
  const CUgraphExec executable = endless(graph_, word, true);
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  // The body may have failed by now: then the call itself tells.
  const CUresult behind = cuMemsetD32Async(word + 4, 1, 1, stream_);
  EXPECT_TRUE(behind == CUDA_SUCCESS || behind == CUDA_ERROR_ILLEGAL_INSTRUCTION) << behind;
  EXPECT_CODE(CUDA_ERROR_ILLEGAL_INSTRUCTION, cuStreamSynchronize(stream_));
  EXPECT_CODE(CUDA_ERROR_ILLEGAL_INSTRUCTION, cuCtxSynchronize());
  EXPECT_EQ(1U, words[0]);
  EXPECT_EQ(0U, words[1]) << "what is behind the loop is not run";
  EXPECT_OK(cuGraphExecDestroy(executable));
}

}  // namespace
