// Memory that graphs allocate and free: by nodes, and by calls in a stream that is being captured.
#include <thread>

#include "tests/cuda/softcuda/fixture.hpp"

namespace {

class GraphMemoryTest : public WithModule {
 protected:
  void SetUp() override {
    WithModule::SetUp();
    ASSERT_OK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    result_ = allocate(sizeof(unsigned));
    upload<unsigned>(result_, {0});
  }
  void TearDown() override {
    EXPECT_OK(cuStreamDestroy(stream_));
    WithModule::TearDown();
  }

  std::uint64_t used() {
    std::uint64_t bytes = 0;
    EXPECT_OK(cuDeviceGetGraphMemAttribute(device_, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
    return bytes;
  }
  /// "Asynchronously, when the launch has ended" (cuGraphExecDestroy): by a thread of the driver.
  void await_end_of_use() {
    while (used() != 0) std::this_thread::yield();
  }
  std::size_t free_memory() {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_OK(cuMemGetInfo(&free, &total));
    return free;
  }
  void begin() { ASSERT_OK(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)); }
  CUgraph end() {
    CUgraph graph = nullptr;
    EXPECT_OK(cuStreamEndCapture(stream_, &graph));
    return graph;
  }
  /// result = result * 10 + 3, through memory of the graph that is being captured.
  CUdeviceptr work_in_memory(bool frees) {
    CUdeviceptr memory = 0;
    EXPECT_OK(cuMemAllocAsync(&memory, kBytes, stream_));
    EXPECT_OK(cuMemcpyDtoDAsync(memory, result_, sizeof(unsigned), stream_));
    EXPECT_OK(launch("append", 1, 1, stream_, memory, 3u));
    EXPECT_OK(cuMemcpyDtoDAsync(result_, memory, sizeof(unsigned), stream_));
    if (frees) {
      EXPECT_OK(cuMemFreeAsync(memory, stream_));
    }
    return memory;
  }
  CUgraphExec instantiate(CUgraph graph, unsigned long long flags = 0) {
    CUgraphExec executable = nullptr;
    EXPECT_OK(cuGraphInstantiate(&executable, graph, flags));
    return executable;
  }
  void launch_and_wait(CUgraphExec executable) {
    EXPECT_OK(cuGraphLaunch(executable, stream_));
    EXPECT_OK(cuStreamSynchronize(stream_));
  }

  static constexpr std::size_t kBytes = 1 << 20;
  CUstream stream_ = nullptr;
  CUdeviceptr result_ = 0;
};

TEST_F(GraphMemoryTest, AllocationsAreCaptured) {
  const std::size_t before = free_memory();
  begin();
  work_in_memory(true);
  CUgraph const graph = end();
  EXPECT_EQ(0u, download<unsigned>(result_, 1)[0]) << "nothing has run yet";
  EXPECT_EQ(kBytes, used());
  std::size_t count = 0;
  EXPECT_OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(5u, count);
  CUgraphExec const executable = instantiate(graph);
  launch_and_wait(executable);
  EXPECT_EQ(3u, download<unsigned>(result_, 1)[0]);
  launch_and_wait(executable);
  EXPECT_EQ(33u, download<unsigned>(result_, 1)[0]);
  // Launches under way have their memory, whatever the program ends.
  Gate gate;
  EXPECT_OK(gate.close(stream_));
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_OK(cuGraphExecDestroy(executable));
  gate.open();
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(333u, download<unsigned>(result_, 1)[0]);
  EXPECT_OK(cuCtxSynchronize());
  await_end_of_use();
  while (free_memory() < before) std::this_thread::yield();
  std::uint64_t high = 0;
  EXPECT_OK(cuDeviceGetGraphMemAttribute(device_, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
  EXPECT_EQ(kBytes, high);
  high = 0;
  EXPECT_OK(cuDeviceSetGraphMemAttribute(device_, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
  high = 1;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuDeviceSetGraphMemAttribute(device_, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
  EXPECT_OK(cuDeviceGetGraphMemAttribute(device_, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
  EXPECT_EQ(0u, high);
  EXPECT_OK(cuDeviceGraphMemTrim(device_));
}

TEST_F(GraphMemoryTest, TheProgramFreesWhatALaunchHasAllocated) {
  begin();
  const CUdeviceptr memory = work_in_memory(false);
  CUgraph const graph = end();
  CUgraphExec const executable = instantiate(graph);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory)) << "no launch has allocated it";
  launch_and_wait(executable);
  EXPECT_EQ(3u, download<unsigned>(memory, 1)[0]);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(executable, stream_)) << "it is still there";
  EXPECT_OK(cuMemFreeAsync(memory, stream_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory)) << "twice";
  launch_and_wait(executable);
  EXPECT_OK(cuMemFree(memory));
  launch_and_wait(executable);
  EXPECT_EQ(333u, download<unsigned>(result_, 1)[0]);
  // What is there when its graphs go stays the program's.
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(333u, download<unsigned>(memory, 1)[0]);
  EXPECT_OK(cuMemFree(memory));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(memory, result_, sizeof(unsigned)));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
}

TEST_F(GraphMemoryTest, ALaunchFreesAtItsBeginIfItMay) {
  begin();
  const CUdeviceptr memory = work_in_memory(false);
  CUgraph const graph = end();
  CUgraphExec const executable = instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  launch_and_wait(executable);
  launch_and_wait(executable);
  EXPECT_EQ(33u, download<unsigned>(result_, 1)[0]);
  EXPECT_OK(cuMemFree(memory));
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(GraphMemoryTest, OneGraphAllocatesAndAnotherFrees) {
  begin();
  const CUdeviceptr memory = work_in_memory(false);
  CUgraph const allocating = end();
  begin();
  EXPECT_OK(cuMemcpyDtoDAsync(result_, memory, sizeof(unsigned), stream_));
  EXPECT_OK(cuMemFreeAsync(memory, stream_));
  CUgraph const freeing = end();
  CUgraphExec const first = instantiate(allocating);
  CUgraphExec const second = instantiate(freeing);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(second, stream_)) << "nothing to free";
  EXPECT_EQ(0u, download<unsigned>(result_, 1)[0]) << "a launch happens whole or not at all";
  for (unsigned expected : {3u, 33u}) {
    launch_and_wait(first);
    launch_and_wait(second);
    EXPECT_EQ(expected, download<unsigned>(result_, 1)[0]);
  }
  // The last share of the memory is the other graph's launch.
  launch_and_wait(first);
  EXPECT_OK(cuGraphExecDestroy(first));
  EXPECT_OK(cuGraphDestroy(allocating));
  EXPECT_OK(cuCtxSynchronize());
  launch_and_wait(second);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
  EXPECT_OK(cuGraphExecDestroy(second));
  EXPECT_OK(cuGraphDestroy(freeing));
}

TEST_F(GraphMemoryTest, NodesByHand) {
  CUgraph graph = nullptr;
  ASSERT_OK(cuGraphCreate(&graph, 0));
  CUDA_MEM_ALLOC_NODE_PARAMS wish{};
  wish.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wish.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, device_};
  CUgraphNode node = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wish)) << "0 bytes";
  wish.bytesize = kBytes;
  wish.poolProps.location.id = 77;
  EXPECT_CODE(CUDA_ERROR_INVALID_DEVICE, cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wish));
  wish.poolProps.location.id = device_;
  ASSERT_OK(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &wish));
  ASSERT_NE(0u, wish.dptr);
  CUgraphNodeType type{};
  EXPECT_OK(cuGraphNodeGetType(node, &type));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_MEM_ALLOC, type);
  CUDA_MEM_ALLOC_NODE_PARAMS told{};
  EXPECT_OK(cuGraphMemAllocNodeGetParams(node, &told));
  EXPECT_EQ(wish.dptr, told.dptr);
  EXPECT_EQ(kBytes, told.bytesize);
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = wish.dptr;
  fill.value = 0x01020304;
  fill.elementSize = 4;
  fill.width = kBytes / 4;
  fill.height = 1;
  CUgraphNode filled = nullptr;
  ASSERT_OK(cuGraphAddMemsetNode(&filled, graph, &node, 1, &fill, context_));
  CUgraphNode freed = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&freed, graph, &filled, 1, result_))
      << "memory of no graph";
  CUgraphNodeParams of_free{};
  of_free.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  of_free.free.dptr = wish.dptr;
  ASSERT_OK(cuGraphAddNode(&freed, graph, &filled, nullptr, 1, &of_free));
  CUdeviceptr address = 0;
  EXPECT_OK(cuGraphMemFreeNodeGetParams(freed, &address));
  EXPECT_EQ(wish.dptr, address);
  CUgraphNodeParams of_allocation{};
  of_allocation.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  of_allocation.alloc.poolProps = wish.poolProps;
  of_allocation.alloc.bytesize = 16;
  CUgraphNode second = nullptr;
  ASSERT_OK(cuGraphAddNode(&second, graph, &freed, nullptr, 1, &of_allocation));
  EXPECT_NE(0u, of_allocation.alloc.dptr);
  EXPECT_EQ(kBytes + 16, used());
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(second, &of_allocation));
  EXPECT_EQ(kBytes + 16, used());

  CUgraph clone = nullptr;
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphClone(&clone, graph));
  CUgraph parent = nullptr;
  ASSERT_OK(cuGraphCreate(&parent, 0));
  CUgraphNode child = nullptr;
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
  EXPECT_OK(cuGraphDestroy(parent));

  CUgraphExec const executable = instantiate(graph);
  launch_and_wait(executable);
  EXPECT_EQ(0x01020304u, download<unsigned>(wish.dptr, 1)[0]);
  EXPECT_OK(cuMemFree(of_allocation.alloc.dptr));
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph));
  EXPECT_OK(cuCtxSynchronize());
  await_end_of_use();
}

TEST_F(GraphMemoryTest, ALostCaptureKeepsNoMemory) {
  begin();
  work_in_memory(true);
  CUdeviceptr memory = 0;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(result_, stream_)) << "memory of no graph";
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream_));
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemAllocAsync(&memory, kBytes, stream_));
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemFreeAsync(result_, stream_));
  CUgraph graph = nullptr;
  EXPECT_CODE(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream_, &graph));
  await_end_of_use();
}

TEST_F(GraphMemoryTest, OtherStreamsAllocateMeanwhile) {
  begin();
  CUstream other = nullptr;
  ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CUdeviceptr memory = 0;
  EXPECT_OK(cuMemAllocAsync(&memory, kBytes, other));
  EXPECT_OK(cuMemFreeAsync(memory, other));
  await_end_of_use();
  EXPECT_OK(cuGraphDestroy(end()));
  EXPECT_OK(cuStreamDestroy(other));
}

}  // namespace
