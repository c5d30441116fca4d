// The gates in front of executable graphs that have memory of their own.
#include <algorithm>
#include <array>
#include <vector>

#include "cuda-shim/direct/gates/gates.hpp"
#include "cuda-shim/direct/tenancy.hpp"

namespace fairgv::cuda::direct {
namespace {

constexpr int kDeepest = 16;  // graphs within graphs

void add_allocations(CUgraph graph, std::size_t devices, int depth, GraphMemory::Bytes& bytes) {
  std::size_t count = 0;
  if (depth > kDeepest || FAIRGV_DRIVER(cuGraphGetNodes)(graph, nullptr, &count) != CUDA_SUCCESS) return;
  std::vector<CUgraphNode> nodes(count);
  if (FAIRGV_DRIVER(cuGraphGetNodes)(graph, nodes.data(), &count) != CUDA_SUCCESS) return;
  nodes.resize(std::min(count, nodes.size()));
  for (CUgraphNode node : nodes) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    if (FAIRGV_DRIVER(cuGraphNodeGetType)(node, &type) != CUDA_SUCCESS) continue;
    CUgraph child = nullptr;
    CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
    if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
      if (FAIRGV_DRIVER(cuGraphChildGraphNodeGetGraph)(node, &child) == CUDA_SUCCESS)
        add_allocations(child, devices, depth + 1, bytes);
    } else if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
               FAIRGV_DRIVER(cuGraphMemAllocNodeGetParams)(node, &allocation) == CUDA_SUCCESS) {
      const CUmemLocation& place = allocation.poolProps.location;
      const bool on_device = place.type == CU_MEM_LOCATION_TYPE_DEVICE && place.id >= 0;
      if (on_device && static_cast<std::size_t>(place.id) < devices)
        bytes[static_cast<std::uint32_t>(place.id)] += allocation.bytesize;
    }
  }
}

template <Symbol kSymbol, class... Rest>
CUresult instantiate(CUgraphExec* executable, CUgraph graph, Rest... rest) {
  Tenancy* const tenancy = Tenancy::current();
  GraphMemory::Bytes bytes;
  if (tenancy != nullptr) add_allocations(graph, tenancy->gates().size(), 0, bytes);
  if (bytes.empty()) return call_driver(kSymbol, executable, graph, rest...);
  if (!tenancy->graph_memory().charge(bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  const CUresult code = call_driver(kSymbol, executable, graph, rest...);
  if (code != CUDA_SUCCESS) {
    tenancy->graph_memory().give_back(bytes);
  } else {
    tenancy->graph_memory().hold(reinterpret_cast<std::uintptr_t>(*executable), std::move(bytes));
  }
  return code;
}

CUresult destroy_executable(CUgraphExec executable) {
  Tenancy* const tenancy = Tenancy::current();
  const auto handle = reinterpret_cast<std::uintptr_t>(executable);
  GraphMemory::Bytes bytes;
  if (tenancy != nullptr) bytes = tenancy->graph_memory().take(handle);
  const CUresult code = call_driver(Symbol::cuGraphExecDestroy_, executable);
  if (bytes.empty()) return code;
  if (code == CUDA_SUCCESS) {
    tenancy->graph_memory().gone(bytes);
  } else {
    tenancy->graph_memory().hold(handle, std::move(bytes));
  }
  return code;
}

CUresult trim(CUdevice device) {
  const CUresult code = call_driver(Symbol::cuDeviceGraphMemTrim_, device);
  Tenancy* const tenancy = Tenancy::current();
  if (tenancy != nullptr && code == CUDA_SUCCESS)
    tenancy->graph_memory().settle(static_cast<std::uint32_t>(device));
  return code;
}

}  // namespace

// Made at the first call, which may come before this file's own objects are made.
std::span<const GateFunction> graph_gates() {
  using Node = CUgraphNode*;
#define FAIRGV_GATE(symbol, ...) gate_at(Symbol::symbol##_, &instantiate<Symbol::symbol##_, __VA_ARGS__>)
  static const std::array kGraphGates{
      FAIRGV_GATE(cuGraphInstantiate, Node, char*, std::size_t),
      FAIRGV_GATE(cuGraphInstantiate_v2, Node, char*, std::size_t),
      FAIRGV_GATE(cuGraphInstantiateWithFlags, unsigned long long),
      FAIRGV_GATE(cuGraphInstantiateWithParams, CUDA_GRAPH_INSTANTIATE_PARAMS*),
      FAIRGV_GATE(cuGraphInstantiateWithParams_ptsz, CUDA_GRAPH_INSTANTIATE_PARAMS*),
      gate_at(Symbol::cuGraphExecDestroy_, &destroy_executable),
      gate_at(Symbol::cuDeviceGraphMemTrim_, &trim),
  };
#undef FAIRGV_GATE
  return kGraphGates;
}

}  // namespace fairgv::cuda::direct
