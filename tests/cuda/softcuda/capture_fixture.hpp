// Shared by the tests of captures: streams, events, and a number that launches append digits to.
#pragma once

#include <vector>

#include "fixture.hpp"

class Captures : public WithModule {
 protected:
  void SetUp() override {
    WithModule::SetUp();
    ASSERT_OK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuStreamCreate(&other_, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuStreamCreate(&blocking_, CU_STREAM_DEFAULT));
    ASSERT_OK(cuEventCreate(&event_, CU_EVENT_DEFAULT));
    ASSERT_OK(cuEventCreate(&joined_, CU_EVENT_DEFAULT));
    number_ = allocate(4);
    ASSERT_OK(cuMemsetD32(number_, 0, 1));
    ASSERT_OK(cuCtxSynchronize());
  }

  CUresult append(CUstream stream, unsigned digit) { return launch("append", 1, 1, stream, number_, digit); }
  void begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    ASSERT_OK(cuStreamBeginCapture(stream, mode));
  }
  CUgraph end(CUstream stream) {
    CUgraph graph = nullptr;
    EXPECT_OK(cuStreamEndCapture(stream, &graph));
    return graph;
  }
  /// The capture has been invalidated, and its stream can be used again afterwards.
  void expect_invalidated(CUstream stream) {
    CUstreamCaptureStatus status{};
    EXPECT_OK(cuStreamIsCapturing(stream, &status));
    EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_INVALIDATED, status);
    EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, append(stream, 1));
    CUgraph graph = reinterpret_cast<CUgraph>(this);
    EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    EXPECT_EQ(nullptr, graph);
    EXPECT_OK(cuStreamIsCapturing(stream, &status));
    EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, status);
    EXPECT_OK(cuStreamSynchronize(stream));
  }
  /// The result of one launch on the number 0. Destroys the graph.
  unsigned number_after(CUgraph graph) {
    CUgraphExec executable = nullptr;
    EXPECT_OK(cuGraphInstantiate(&executable, graph, 0));
    EXPECT_OK(cuGraphDestroy(graph));
    EXPECT_OK(cuMemsetD32Async(number_, 0, 1, stream_));
    EXPECT_OK(cuGraphLaunch(executable, stream_));
    EXPECT_OK(cuStreamSynchronize(stream_));
    EXPECT_OK(cuGraphExecDestroy(executable));
    return download<unsigned>(number_, 1)[0];
  }
  std::vector<CUgraphNodeType> types_of(CUgraph graph) {
    std::size_t count = 0;
    EXPECT_OK(cuGraphGetNodes(graph, nullptr, &count));
    std::vector<CUgraphNode> nodes(count);
    EXPECT_OK(cuGraphGetNodes(graph, nodes.data(), &count));
    std::vector<CUgraphNodeType> types(count);
    for (std::size_t at = 0; at < count; ++at) EXPECT_OK(cuGraphNodeGetType(nodes[at], &types[at]));
    return types;
  }
  std::size_t edges_of(CUgraph graph) {
    std::size_t count = 0;
    EXPECT_OK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    return count;
  }

  CUstream stream_ = nullptr, other_ = nullptr, blocking_ = nullptr;
  CUevent event_ = nullptr, joined_ = nullptr;
  CUdeviceptr number_ = 0;
};
