// Streams captured into graphs: what becomes a node, forks and joins, and what invalidates a capture.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <thread>

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
  /// The capture has been invalidated, and its stream is of use again afterwards.
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
  /// What one launch makes of the number 0. The graph goes.
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

TEST_F(Captures, EveryKindOfCommandBecomesANodeAndNothingRunsMeanwhile) {
  constexpr std::size_t kWidth = 12, kHeight = 5;
  const CUdeviceptr memory = allocate(4096);
  std::vector<unsigned char> sent(kWidth * kHeight);
  std::iota(sent.begin(), sent.end(), static_cast<unsigned char>(1));
  std::vector<unsigned char> received(kWidth * kHeight, 0);
  void* pinned = nullptr;
  ASSERT_OK(cuMemAllocHost(&pinned, 64));
  std::memset(pinned, 0, 64);
  int calls = 0;
  begin(stream_);
  EXPECT_OK(cuMemsetD8Async(memory, 9, 64, stream_));
  EXPECT_OK(cuMemcpyDtoHAsync(pinned, memory, 64, stream_));
  CUDA_MEMCPY2D rows{};
  rows.srcMemoryType = CU_MEMORYTYPE_HOST;
  rows.srcHost = sent.data();
  rows.srcPitch = kWidth;
  rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.dstDevice = memory;
  rows.dstPitch = 32;
  rows.WidthInBytes = kWidth;
  rows.Height = kHeight;
  EXPECT_OK(cuMemcpy2DAsync(&rows, stream_));
  CUDA_MEMCPY2D back{};
  back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  back.srcDevice = memory;
  back.srcPitch = 32;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = received.data();
  back.dstPitch = kWidth;
  back.WidthInBytes = kWidth;
  back.Height = kHeight;
  EXPECT_OK(cuMemcpy2DAsync(&back, stream_));
  EXPECT_OK(append(stream_, 4));
  EXPECT_OK(cuLaunchHostFunc(
      stream_, [](void* data) { ++*static_cast<int*>(data); }, &calls));
  EXPECT_OK(cuEventRecordWithFlags(event_, stream_, CU_EVENT_RECORD_EXTERNAL));
  EXPECT_OK(cuStreamWaitEvent(stream_, joined_, CU_EVENT_WAIT_EXTERNAL));
  const CUgraph graph = end(stream_);
  EXPECT_EQ((std::vector{CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMCPY,
                         CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_HOST,
                         CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT}),
            types_of(graph));
  EXPECT_EQ(7U, edges_of(graph));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(0, calls);
  EXPECT_EQ(0, *static_cast<unsigned char*>(pinned));
  EXPECT_EQ(4U, number_after(graph));
  EXPECT_EQ(1, calls);
  EXPECT_EQ(9, *static_cast<unsigned char*>(pinned));
  EXPECT_EQ(sent, received);
  EXPECT_OK(cuEventQuery(event_));
  EXPECT_OK(cuMemFreeHost(pinned));
}

TEST_F(Captures, StreamsForkAndJoinByEvents) {
  begin(stream_);
  EXPECT_OK(append(stream_, 1));
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_OK(cuStreamWaitEvent(other_, event_, 0));
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  cuuint64_t id_of_other = 1;
  EXPECT_OK(cuStreamGetCaptureInfo(stream_, &status, &id, nullptr, nullptr, nullptr, nullptr));
  EXPECT_OK(cuStreamGetCaptureInfo(other_, &status, &id_of_other, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, status);
  EXPECT_EQ(id, id_of_other);
  EXPECT_OK(append(other_, 2));
  EXPECT_OK(append(other_, 3));
  EXPECT_OK(cuEventRecord(joined_, other_));
  EXPECT_OK(cuStreamWaitEvent(stream_, joined_, 0));
  EXPECT_OK(append(stream_, 4));
  CUgraph graph = end(stream_);
  EXPECT_EQ(4U, types_of(graph).size());
  // The fork came before anything else in the first stream, whose node the join depends on, too.
  EXPECT_EQ(4U, edges_of(graph));
  EXPECT_EQ(1234U, number_after(graph));
  EXPECT_OK(cuStreamIsCapturing(other_, &status));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, status);
  // The events stand for places in a graph until they are recorded anew.
  EXPECT_CODE(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(event_));
  EXPECT_CODE(CUDA_ERROR_CAPTURED_EVENT, cuEventSynchronize(event_));
  EXPECT_CODE(CUDA_ERROR_CAPTURED_EVENT, cuStreamWaitEvent(stream_, event_, 0));
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_OK(cuEventSynchronize(event_));
}

TEST_F(Captures, AForkThatIsNotJoinedIsAnError) {
  begin(stream_);
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_OK(cuStreamWaitEvent(other_, event_, 0));
  EXPECT_OK(append(other_, 1));
  CUgraph graph = nullptr;
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(stream_, &graph));
  EXPECT_EQ(nullptr, graph);
  EXPECT_OK(append(other_, 5));
  EXPECT_OK(cuStreamSynchronize(other_));
  EXPECT_EQ(5U, download<unsigned>(number_, 1)[0]);
}

// Seen of NVIDIA's driver 580.
TEST_F(Captures, EndedInAnotherStreamThanItsOwnItIsLost) {
  begin(stream_);
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_OK(cuStreamWaitEvent(other_, event_, 0));
  CUgraph graph = nullptr;
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(other_, &graph));
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream_, &graph));
  EXPECT_EQ(nullptr, graph);
}

TEST_F(Captures, WaitingForACapturedStreamInvalidatesItsCapture) {
  begin(stream_);
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream_));
  expect_invalidated(stream_);
  begin(stream_);
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery(stream_));
  expect_invalidated(stream_);
  begin(stream_);
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxSynchronize());
  expect_invalidated(stream_);
  begin(stream_);
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_CODE(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(event_));
  expect_invalidated(stream_);
  begin(stream_);
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
              cuStreamAddCallback(
                  stream_, [](CUstream, CUresult, void*) {}, nullptr, 0));
  expect_invalidated(stream_);
  begin(stream_);
  CUdeviceptr memory = 0;
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAllocAsync(&memory, 16, stream_));
  expect_invalidated(stream_);
  // Other streams are as they were.
  begin(stream_);
  EXPECT_OK(append(other_, 3));
  EXPECT_OK(cuStreamSynchronize(other_));
  EXPECT_OK(append(stream_, 4));
  EXPECT_EQ(4U, number_after(end(stream_)));
}

TEST_F(Captures, TheLegacyStreamCannotBeUsedWhileABlockingStreamIsCaptured) {
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
              cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
  begin(blocking_);
  CUstreamCaptureStatus status{};
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing(nullptr, &status));
  EXPECT_OK(cuStreamIsCapturing(blocking_, &status));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, status) << "asking does no harm";
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, append(nullptr, 1));
  expect_invalidated(blocking_);
  begin(blocking_);
  unsigned value = 0;
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemcpyDtoH(&value, number_, 4));
  expect_invalidated(blocking_);
  // A stream that does not wait for the legacy one is nothing to it.
  begin(stream_);
  EXPECT_OK(append(nullptr, 1));
  EXPECT_OK(cuStreamSynchronize(nullptr));
  EXPECT_OK(append(stream_, 2));
  EXPECT_EQ(2U, number_after(end(stream_)));
}

TEST_F(Captures, DependenciesDoNotCrossItsBounds) {
  EXPECT_OK(cuEventRecord(event_, other_));
  begin(stream_);
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(stream_, event_, 0));
  expect_invalidated(stream_);
  begin(stream_);
  begin(other_);
  EXPECT_OK(cuEventRecord(event_, stream_));
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(other_, event_, 0));
  expect_invalidated(stream_);
  expect_invalidated(other_);
}

TEST_F(Captures, BeginAndEndBelongTogether) {
  CUgraph graph = nullptr;
  EXPECT_CODE(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream_, &graph));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuStreamBeginCapture(stream_, static_cast<CUstreamCaptureMode>(3)));
  begin(stream_);
  EXPECT_CODE(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  std::thread([&] {
    EXPECT_OK(cuCtxSetCurrent(context_));
    EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, cuStreamEndCapture(stream_, &graph));
  }).join();
  EXPECT_EQ(0U, types_of(end(stream_)).size());
  begin(stream_, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_OK(append(stream_, 6));
  std::thread([&] {
    EXPECT_OK(cuCtxSetCurrent(context_));
    EXPECT_OK(cuStreamEndCapture(stream_, &graph));
  }).join();
  EXPECT_EQ(6U, number_after(graph));
}

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
  // One that has joined may go before the end.
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
  // A capture in the global mode would forbid it.
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
