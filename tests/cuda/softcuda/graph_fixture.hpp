// Graphs whose kernels append digits to a number, and parameters of plain copies.
#pragma once

#include <cstddef>
#include <vector>

#include "fixture.hpp"

inline CUDA_MEMCPY3D linear(CUmemorytype to_type, void* to, CUdeviceptr to_device, CUmemorytype from_type,
                            const void* from, CUdeviceptr from_device, std::size_t bytes) {
  CUDA_MEMCPY3D p{};
  p.dstMemoryType = to_type;
  p.dstHost = to;
  p.dstDevice = to_device;
  p.dstPitch = bytes;
  p.srcMemoryType = from_type;
  p.srcHost = from;
  p.srcDevice = from_device;
  p.srcPitch = bytes;
  p.WidthInBytes = bytes;
  p.Height = 1;
  p.Depth = 1;
  return p;
}
inline CUDA_MEMCPY3D upload_of(CUdeviceptr to, const void* from, std::size_t bytes) {
  return linear(CU_MEMORYTYPE_DEVICE, nullptr, to, CU_MEMORYTYPE_HOST, from, 0, bytes);
}
inline CUDA_MEMCPY3D download_of(void* to, CUdeviceptr from, std::size_t bytes) {
  return linear(CU_MEMORYTYPE_HOST, to, 0, CU_MEMORYTYPE_DEVICE, nullptr, from, bytes);
}

class Graphs : public WithModule {
 protected:
  void SetUp() override {
    WithModule::SetUp();
    ASSERT_OK(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuGraphCreate(&graph_, 0));
    number_ = allocate(4);
    ASSERT_OK(cuMemsetD32(number_, 0, 1));
    ASSERT_OK(cuCtxSynchronize());
  }
  void TearDown() override {
    if (graph_ != nullptr) {
      EXPECT_OK(cuGraphDestroy(graph_));
    }
    WithModule::TearDown();
  }

  /// A kernel node's parameters: the number, and a digit that the kernel appends to it.
  struct Append {
    Append(Graphs& test, unsigned of_digit, CUdeviceptr of_number = 0)
        : number(of_number != 0 ? of_number : test.number_), digit(of_digit) {
      node.func = test.function("append");
      node.gridDimX = node.gridDimY = node.gridDimZ = 1;
      node.blockDimX = node.blockDimY = node.blockDimZ = 1;
      node.kernelParams = arguments;
    }
    CUdeviceptr number;
    unsigned digit;
    void* arguments[2] = {&number, &digit};
    CUDA_KERNEL_NODE_PARAMS node{};
  };

  CUgraphNode append(CUgraph graph, std::vector<CUgraphNode> before, unsigned digit) {
    const Append parameters(*this, digit);
    CUgraphNode node = nullptr;
    EXPECT_OK(cuGraphAddKernelNode(&node, graph, before.data(), before.size(), &parameters.node));
    return node;
  }
  CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec executable = nullptr;
    EXPECT_OK(cuGraphInstantiate(&executable, graph, 0));
    return executable;
  }
  /// The result of launches on the number 0.
  unsigned number_after(CUgraphExec executable, int launches = 1) {
    EXPECT_OK(cuMemsetD32Async(number_, 0, 1, stream_));
    for (int at = 0; at < launches; ++at) EXPECT_OK(cuGraphLaunch(executable, stream_));
    EXPECT_OK(cuStreamSynchronize(stream_));
    return download<unsigned>(number_, 1)[0];
  }
  std::vector<CUgraphNode> nodes_of(CUgraph graph) {
    std::size_t count = 0;
    EXPECT_OK(cuGraphGetNodes(graph, nullptr, &count));
    std::vector<CUgraphNode> nodes(count);
    EXPECT_OK(cuGraphGetNodes(graph, nodes.data(), &count));
    return nodes;
  }

  CUstream stream_ = nullptr;
  CUgraph graph_ = nullptr;
  CUdeviceptr number_ = 0;
};
