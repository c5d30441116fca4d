// Changes to a graph after it was instantiated, changes that are refused, and queries of graphs.
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "graph_fixture.hpp"

TEST_F(Graphs, AnExecutableTakesTheParametersOfAGraphOfTheSameShape) {
  append(graph_, {append(graph_, {}, 1)}, 2);
  const CUgraphExec executable = instantiate(graph_);
  CUgraph other = nullptr;
  ASSERT_OK(cuGraphCreate(&other, 0));
  const CUgraphNode second = append(other, {}, 4);
  const CUgraphNode first = append(other, {}, 3);
  // Added in another order: the edges tell which nodes correspond.
  ASSERT_OK(cuGraphAddDependencies(other, &first, &second, nullptr, 1));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_OK(cuGraphExecUpdate(executable, other, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_SUCCESS, info.result);
  EXPECT_EQ(34U, number_after(executable));
  const CUgraphNode third = append(other, {second}, 5);
  EXPECT_CODE(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(executable, other, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, info.result);
  EXPECT_EQ(nullptr, info.errorNode);
  EXPECT_OK(cuGraphDestroyNode(third));
  EXPECT_OK(cuGraphDestroyNode(second));
  CUgraphNode empty = nullptr;
  ASSERT_OK(cuGraphAddEmptyNode(&empty, other, &first, 1));
  EXPECT_CODE(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(executable, other, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, info.result);
  EXPECT_EQ(empty, info.errorNode);
  EXPECT_EQ(34U, number_after(executable)) << "an update that fails changes nothing";
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphExecUpdate(executable, nullptr, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR, info.result);
  EXPECT_OK(cuGraphDestroy(other));
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Graphs, CopiesAndFillsCanBeChangedWithinLimits) {
  const CUdeviceptr from = allocate(64);
  const CUdeviceptr to = allocate(64);
  const CUdeviceptr other = allocate(64);
  const CUDA_MEMSET_NODE_PARAMS filling{from, 0, 0x01020304, 4, 16, 1};
  CUgraphNode fill = nullptr;
  ASSERT_OK(cuGraphAddMemsetNode(&fill, graph_, nullptr, 0, &filling, context_));
  auto copying = linear(CU_MEMORYTYPE_DEVICE, nullptr, to, CU_MEMORYTYPE_DEVICE, nullptr, from, 64);
  CUgraphNode copy = nullptr;
  ASSERT_OK(cuGraphAddMemcpyNode(&copy, graph_, &fill, 1, &copying, context_));
  CUDA_MEMSET_NODE_PARAMS read_fill{};
  EXPECT_OK(cuGraphMemsetNodeGetParams(fill, &read_fill));
  EXPECT_EQ(0, std::memcmp(&filling, &read_fill, sizeof filling));
  CUDA_MEMCPY3D read_copy{};
  EXPECT_OK(cuGraphMemcpyNodeGetParams(copy, &read_copy));
  EXPECT_EQ(0, std::memcmp(&copying, &read_copy, sizeof copying));

  const CUgraphExec executable = instantiate(graph_);
  copying.dstDevice = other;
  EXPECT_OK(cuGraphExecMemcpyNodeSetParams(executable, copy, &copying, context_));
  const CUDA_MEMSET_NODE_PARAMS refilling{from, 0, 7, 1, 64, 1};
  EXPECT_OK(cuGraphExecMemsetNodeSetParams(executable, fill, &refilling, context_));
  EXPECT_OK(cuMemsetD8(to, 1, 64));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(std::vector<unsigned char>(64, 7), download<unsigned char>(other, 64));
  EXPECT_EQ(std::vector<unsigned char>(64, 1), download<unsigned char>(to, 64));
  std::array<unsigned char, 64> host{};
  const auto to_host = download_of(host.data(), from, 64);
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(executable, copy, &to_host, context_));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(executable, fill, &copying, context_));
  EXPECT_OK(cuGraphExecDestroy(executable));

  CUDA_MEMSET_NODE_PARAMS bad = filling;
  bad.elementSize = 3;
  CUgraphNode none = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemsetNode(&none, graph_, nullptr, 0, &bad, context_));
  bad = filling;
  bad.width = 17;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemsetNode(&none, graph_, nullptr, 0, &bad, context_));
  copying.WidthInBytes = 65;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemcpyNode(&none, graph_, nullptr, 0, &copying, context_));
}

TEST_F(Graphs, ALaunchWhoseMemoryIsGoneIsRefusedWhole) {
  const CUdeviceptr memory = allocate(64);
  append(graph_, {}, 1);
  const CUDA_MEMSET_NODE_PARAMS filling{memory, 0, 1, 1, 64, 1};
  CUgraphNode fill = nullptr;
  ASSERT_OK(cuGraphAddMemsetNode(&fill, graph_, nullptr, 0, &filling, context_));
  const CUgraphExec executable = instantiate(graph_);
  EXPECT_EQ(1U, number_after(executable));
  EXPECT_OK(cuMemFree(memory));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(executable, stream_));
  EXPECT_OK(cuStreamSynchronize(stream_));
  EXPECT_EQ(1U, download<unsigned>(number_, 1)[0]);
  EXPECT_OK(cuGraphNodeSetEnabled(executable, fill, 0));
  EXPECT_EQ(1U, number_after(executable));
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Graphs, NodesCanBeDisabled) {
  const CUgraphNode first = append(graph_, {}, 1);
  append(graph_, {first}, 2);
  CUgraphNode empty = nullptr;
  ASSERT_OK(cuGraphAddEmptyNode(&empty, graph_, nullptr, 0));
  const CUgraphExec executable = instantiate(graph_);
  unsigned enabled = 0;
  EXPECT_OK(cuGraphNodeGetEnabled(executable, first, &enabled));
  EXPECT_EQ(1U, enabled);
  EXPECT_OK(cuGraphNodeSetEnabled(executable, first, 0));
  EXPECT_OK(cuGraphNodeGetEnabled(executable, first, &enabled));
  EXPECT_EQ(0U, enabled);
  EXPECT_EQ(2U, number_after(executable));
  EXPECT_OK(cuGraphNodeSetEnabled(executable, first, 1));
  EXPECT_EQ(12U, number_after(executable));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetEnabled(executable, empty, 0));
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Graphs, WhatIsWrongOrNotThereIsSaid) {
  CUgraphNode node = append(graph_, {}, 1);
  const CUgraphNode next = append(graph_, {node}, 2);
  ASSERT_OK(cuGraphAddDependencies(graph_, &next, &node, nullptr, 1));
  CUgraphExec executable = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&executable, graph_, 0));
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&executable, graph_, &parameters));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, parameters.result_out);
  EXPECT_TRUE(parameters.hErrNode_out == node || parameters.hErrNode_out == next);
  EXPECT_OK(cuGraphRemoveDependencies(graph_, &next, &node, nullptr, 1));
  EXPECT_OK(cuGraphInstantiateWithParams(&executable, graph_, &parameters));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_SUCCESS, parameters.result_out);
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphExecDestroy(executable));
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED,
              cuGraphInstantiate(&executable, graph_, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));

  CUgraphNode none = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(nullptr, 0));
  CUgraph graph = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(&graph, 1));
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&none, nullptr, nullptr, 0));
  const std::array twice{node, node};
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&none, graph_, twice.data(), 2));
  Append parameters_of_kernel(*this, 1);
  parameters_of_kernel.node.blockDimX = 1U << 20U;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
              cuGraphAddKernelNode(&none, graph_, nullptr, 0, &parameters_of_kernel.node));
  CUgraphEdgeData edge{};
  edge.from_port = 1;
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphRemoveDependencies(graph_, &node, &next, &edge, 1));
  CUgraphNodeParams operations{};
  operations.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  EXPECT_CODE(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddNode(&none, graph_, nullptr, nullptr, 0, &operations));
  CUgraphNodeParams empty{};
  empty.type = CU_GRAPH_NODE_TYPE_EMPTY;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(node, &empty));
  EXPECT_OK(cuGraphAddNode(&none, graph_, nullptr, nullptr, 0, &empty));
}

TEST_F(Graphs, OldVersionsOfTheCallsDoTheSame) {
  const auto find = [](const char* name, int version) {
    void* function = nullptr;
    EXPECT_OK(cuGetProcAddress(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
    return function;
  };
  const auto add =
      reinterpret_cast<CUresult (*)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,
                                    const CUDA_KERNEL_NODE_PARAMS_v1*)>(find("cuGraphAddKernelNode", 11000));
  const auto connect =
      reinterpret_cast<CUresult (*)(CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t)>(
          find("cuGraphAddDependencies", 12000));
  const auto instantiate_11 =
      reinterpret_cast<CUresult (*)(CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t)>(
          find("cuGraphInstantiate", 11000));
  const auto update =
      reinterpret_cast<CUresult (*)(CUgraphExec, CUgraph, CUgraphNode*, CUgraphExecUpdateResult*)>(
          find("cuGraphExecUpdate", 11000));
  const Append now(*this, 1);
  const CUDA_KERNEL_NODE_PARAMS_v1 old{now.node.func, 1, 1, 1, 1, 1, 1, 0, now.node.kernelParams, nullptr};
  CUgraphNode first = nullptr;
  CUgraphNode second = nullptr;
  EXPECT_OK(add(&first, graph_, nullptr, 0, &old));
  second = append(graph_, {}, 2);
  EXPECT_OK(connect(graph_, &first, &second, 1));
  CUgraphExec executable = nullptr;
  CUgraphNode error = first;
  std::array<char, 8> log{'x'};
  EXPECT_OK(instantiate_11(&executable, graph_, &error, log.data(), log.size()));
  EXPECT_EQ(nullptr, error);
  EXPECT_EQ('\0', log[0]);
  EXPECT_EQ(12U, number_after(executable));
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_ERROR;
  EXPECT_OK(update(executable, graph_, &error, &result));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_SUCCESS, result);
  EXPECT_OK(cuGraphExecDestroy(executable));
}

TEST_F(Graphs, AreDrawn) {
  append(graph_, {append(graph_, {}, 1)}, 2);
  const auto path = std::filesystem::temp_directory_path() / ("graph-" + std::to_string(::getpid()) + ".dot");
  EXPECT_OK(cuGraphDebugDotPrint(graph_, path.c_str(), 0));
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::filesystem::remove(path);
  EXPECT_EQ(0U, text.find("digraph"));
  EXPECT_NE(std::string::npos, text.find("kernel append"));
  EXPECT_NE(std::string::npos, text.find(" -> "));
  EXPECT_CODE(CUDA_ERROR_OPERATING_SYSTEM, cuGraphDebugDotPrint(graph_, "/nowhere/graph.dot", 0));
}
