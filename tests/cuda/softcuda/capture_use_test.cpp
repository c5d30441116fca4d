// Captures beside everything else: modes, existing graphs, threads, and the ends of streams and contexts.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <thread>

#include "capture_fixture.hpp"

TEST_F(Captures, ModesSayWhoMayAllocateMeanwhile) {
  const auto allocates = [this](CUstreamCaptureMode mode_of_thread) {
    EXPECT_OK(cuCtxSetCurrent(context_));
    EXPECT_OK(cuThreadExchangeStreamCaptureMode(&mode_of_thread));
    CUdeviceptr memory = 0;
    const CUresult code = cuMemAlloc(&memory, 16);
    EXPECT_OK(cuThreadExchangeStreamCaptureMode(&mode_of_thread));
    return code;
  };
  const auto allocates_elsewhere = [&](CUstreamCaptureMode mode_of_thread) {
    CUresult code = CUDA_SUCCESS;
    std::thread([&] { code = allocates(mode_of_thread); }).join();
    return code;
  };
  constexpr auto kGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL;
  constexpr auto kThread = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  constexpr auto kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
  struct Row {
    CUstreamCaptureMode capture, thread;
    bool here, elsewhere;
  };
  for (const Row& row : {Row{kGlobal, kGlobal, false, false}, Row{kGlobal, kThread, false, true},
                         Row{kGlobal, kRelaxed, true, true}, Row{kThread, kGlobal, false, true},
                         Row{kThread, kThread, false, true}, Row{kThread, kRelaxed, true, true},
                         Row{kRelaxed, kGlobal, true, true}, Row{kRelaxed, kThread, true, true}}) {
    SCOPED_TRACE("capture " + std::to_string(row.capture) + ", thread " + std::to_string(row.thread));
    for (const bool is_here : {true, false}) {
      begin(stream_, row.capture);
      const CUresult code = is_here ? allocates(row.thread) : allocates_elsewhere(row.thread);
      const bool may = is_here ? row.here : row.elsewhere;
      EXPECT_CODE(may ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, code);
      if (may) {
        EXPECT_OK(cuGraphDestroy(end(stream_)));
      } else {
        expect_invalidated(stream_);
      }
    }
  }
}

TEST_F(Captures, NodesCanBePutIntoTheGraphByHand) {
  begin(stream_);
  EXPECT_OK(append(stream_, 1));
  CUstreamCaptureStatus status{};
  CUgraph graph = nullptr;
  const CUgraphNode* tips = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  ASSERT_OK(cuStreamGetCaptureInfo(stream_, &status, nullptr, &graph, &tips, &edges, &count));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, status);
  ASSERT_EQ(1U, count);
  EXPECT_EQ(0, edges[0].from_port);
  CUdeviceptr number = number_;
  unsigned digit = 2;
  void* arguments[] = {&number, &digit};
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.func = function("append");
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.kernelParams = arguments;
  CUgraphNode node = nullptr;
  ASSERT_OK(cuGraphAddKernelNode(&node, graph, tips, count, &kernel));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(node));
  CUgraphExec executable = nullptr;
  EXPECT_CODE(CUDA_ERROR_ILLEGAL_STATE, cuGraphInstantiate(&executable, graph, 0));
  EXPECT_OK(
      cuStreamUpdateCaptureDependencies(stream_, &node, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  EXPECT_OK(append(stream_, 3));
  EXPECT_EQ(graph, end(stream_));
  EXPECT_EQ(2U, edges_of(graph));
  EXPECT_EQ(123U, number_after(graph));
  EXPECT_CODE(CUDA_ERROR_ILLEGAL_STATE, cuStreamUpdateCaptureDependencies(stream_, nullptr, nullptr, 0, 0));
}

TEST_F(Captures, AddToAGraphThatIsThere) {
  CUgraph graph = nullptr;
  ASSERT_OK(cuGraphCreate(&graph, 0));
  CUgraphNode empty = nullptr;
  ASSERT_OK(cuGraphAddEmptyNode(&empty, graph, nullptr, 0));
  for (const unsigned digit : {1U, 2U}) {
    ASSERT_OK(cuStreamBeginCaptureToGraph(stream_, graph, &empty, nullptr, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamBeginCaptureToGraph(other_, graph, nullptr, nullptr, 0,
                                                                      CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_OK(append(stream_, digit));
    EXPECT_EQ(graph, end(stream_));
  }
  EXPECT_EQ(3U, types_of(graph).size());
  EXPECT_EQ(2U, edges_of(graph));
  EXPECT_EQ(12U, number_after(graph));
}

TEST_F(Captures, ALaunchOfAGraphBecomesAChildGraph) {
  begin(stream_);
  EXPECT_OK(append(stream_, 2));
  EXPECT_OK(append(stream_, 3));
  const CUgraph inner = end(stream_);
  CUgraphExec executable = nullptr;
  ASSERT_OK(cuGraphInstantiate(&executable, inner, 0));
  begin(stream_);
  EXPECT_OK(append(stream_, 1));
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  EXPECT_OK(append(stream_, 4));
  const CUgraph graph = end(stream_);
  EXPECT_EQ((std::vector{CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_GRAPH, CU_GRAPH_NODE_TYPE_KERNEL}),
            types_of(graph));
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(inner));
  EXPECT_EQ(1234U, number_after(graph));
}

TEST_F(Captures, AStreamThatIsDestroyedEndsItsCapture) {
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  begin(stream);
  EXPECT_OK(append(stream, 1));
  EXPECT_OK(cuEventRecord(event_, stream));
  EXPECT_OK(cuStreamWaitEvent(other_, event_, 0));
  EXPECT_OK(cuStreamDestroy(stream));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_OK(cuStreamIsCapturing(other_, &status));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, status);
  // A stream that has joined may be destroyed before the capture ends.
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  begin(stream_);
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_OK(cuStreamWaitEvent(stream, event_, 0));
  EXPECT_OK(append(stream, 7));
  EXPECT_OK(cuEventRecord(joined_, stream));
  EXPECT_OK(cuStreamWaitEvent(stream_, joined_, 0));
  EXPECT_OK(cuStreamDestroy(stream));
  EXPECT_EQ(7U, number_after(end(stream_)));
}

TEST_F(Captures, OfAContextThatIsDestroyedAreOver) {
  CUcontext context = nullptr;
  ASSERT_OK(cuCtxCreate(&context, nullptr, 0, device_));
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  begin(stream);
  EXPECT_OK(cuCtxDestroy(context));
  // A capture in the global mode would forbid this call.
  EXPECT_OK(cuMemFree(allocate(16)));
}

TEST_F(Captures, ThePerThreadDefaultStreamCanBeCaptured) {
  begin(CU_STREAM_PER_THREAD);
  EXPECT_OK(append(CU_STREAM_PER_THREAD, 8));
  EXPECT_EQ(8U, number_after(end(CU_STREAM_PER_THREAD)));
}

TEST_F(Captures, ThreadsCaptureAndLaunchBesideEachOther) {
  constexpr unsigned kThreads = 4;
  const CUdeviceptr memory = allocate(kThreads * 4);
  EXPECT_OK(cuMemsetD32(memory, 0, kThreads));
  EXPECT_OK(cuCtxSynchronize());
  std::vector<std::thread> threads;
  for (unsigned at = 0; at < kThreads; ++at) {
    threads.emplace_back([this, memory, at] {
      EXPECT_OK(cuCtxSetCurrent(context_));
      CUstream stream = nullptr;
      ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
      for (int round = 0; round < 5; ++round) {
        ASSERT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        for (int times = 0; times < 10; ++times)
          EXPECT_OK(launch("increment", 1, 1, stream, memory + at * 4, 1));
        CUgraph graph = nullptr;
        ASSERT_OK(cuStreamEndCapture(stream, &graph));
        CUgraphExec executable = nullptr;
        ASSERT_OK(cuGraphInstantiate(&executable, graph, 0));
        EXPECT_OK(cuGraphLaunch(executable, stream));
        EXPECT_OK(cuGraphLaunch(executable, stream));
        EXPECT_OK(cuGraphExecDestroy(executable));
        EXPECT_OK(cuGraphDestroy(graph));
      }
      EXPECT_OK(cuStreamSynchronize(stream));
      EXPECT_OK(cuStreamDestroy(stream));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::vector<unsigned>(kThreads, 100), download<unsigned>(memory, kThreads));
}
