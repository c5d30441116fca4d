// Graphs with conditional nodes, and kernels that set their handles.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/cuda/softcuda/graph_fixture.hpp"

/// Waits until a loop has counted on.
inline void wait_for_more(std::uint32_t& word) {
  const std::atomic_ref seen(word);
  const std::uint32_t before = seen.load();
  while (seen.load() == before) std::this_thread::yield();
}

class Conditionals : public Graphs {
 protected:
  void SetUp() override;
  /// The module of the current context.
  void load();

  CUgraphConditionalHandle handle_of(CUgraph graph, unsigned value = 0, unsigned flags = 0);
  /// The bodies of a new conditional node, which is stored in `node` if that is not null.
  std::vector<CUgraph> conditional(CUgraph graph, std::vector<CUgraphNode> before,
                                   CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                                   unsigned size, CUgraphNode* node = nullptr);
  CUresult try_conditional(CUgraph graph, CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                           unsigned size, CUcontext context = nullptr);

  /// A kernel of the fixture's own module, of one thread.
  template <typename... Arguments>
  CUgraphNode kernel(CUgraph graph, std::vector<CUgraphNode> before, const char* name,
                     Arguments... arguments) {
    void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
    const CUDA_KERNEL_NODE_PARAMS p = parameters(name, pointers);
    CUgraphNode node = nullptr;
    EXPECT_OK(cuGraphAddKernelNode(&node, graph, before.data(), before.size(), &p));
    return node;
  }
  template <typename... Arguments>
  CUresult change(CUgraphExec executable, CUgraphNode node, const char* name, Arguments... arguments) {
    void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
    const CUDA_KERNEL_NODE_PARAMS p = parameters(name, pointers);
    return cuGraphExecKernelNodeSetParams(executable, node, &p);
  }
  CUDA_KERNEL_NODE_PARAMS parameters(const char* name, void** arguments);
  CUgraphNode fill(CUgraph graph, std::vector<CUgraphNode> before, CUdeviceptr address, unsigned value);

  /// A loop that never ends: its body counts in `word`. / Whose first body fails behind that.
  CUgraphExec endless(CUgraph graph, CUdeviceptr word, bool fails = false);

  CUmodule setters_ = nullptr;
};
