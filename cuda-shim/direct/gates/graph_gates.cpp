// The gates in front of executable graphs that have memory of their own.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "cuda-shim/direct/driver.hpp"
#include "cuda-shim/direct/gates/gates.hpp"
#include "cuda-shim/direct/tenancy.hpp"

namespace fairgv::cuda::direct {
namespace {

/// The allocations of a graph's nodes and of graphs in it, and whether it frees them.
class Nodes {
 public:
  explicit Nodes(std::size_t devices) : devices_(devices) {}

  void add(CUgraph graph, int depth = 0) {
    std::size_t count = 0;
    if (depth > kDeepest || FAIRGV_DRIVER(cuGraphGetNodes)(graph, nullptr, &count) != CUDA_SUCCESS) return;
    std::vector<CUgraphNode> nodes(count);
    if (FAIRGV_DRIVER(cuGraphGetNodes)(graph, nodes.data(), &count) != CUDA_SUCCESS) return;
    nodes.resize(std::min(count, nodes.size()));
    for (CUgraphNode node : nodes) add(node, depth);
  }

  GraphMemory::Allocations allocations() const {
    GraphMemory::Allocations sum;
    for (const auto& [address, its] : allocated_) {
      sum.all[its.device] += its.bytes;
      if (!freed_.contains(address)) sum.lasting[its.device] += its.bytes;
    }
    return sum;
  }

 private:
  void add(CUgraphNode node, int depth) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    if (FAIRGV_DRIVER(cuGraphNodeGetType)(node, &type) != CUDA_SUCCESS) return;
    if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
      CUgraph child = nullptr;
      if (FAIRGV_DRIVER(cuGraphChildGraphNodeGetGraph)(node, &child) == CUDA_SUCCESS) add(child, depth + 1);
    } else if (type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
      CUdeviceptr address = 0;
      if (FAIRGV_DRIVER(cuGraphMemFreeNodeGetParams)(node, &address) == CUDA_SUCCESS) freed_.insert(address);
    } else if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
      CUDA_MEM_ALLOC_NODE_PARAMS its{};
      if (FAIRGV_DRIVER(cuGraphMemAllocNodeGetParams)(node, &its) != CUDA_SUCCESS) return;
      const CUmemLocation& place = its.poolProps.location;
      const bool on_device = place.type == CU_MEM_LOCATION_TYPE_DEVICE && place.id >= 0;
      if (on_device && static_cast<std::size_t>(place.id) < devices_)
        allocated_[its.dptr] = {static_cast<std::uint32_t>(place.id), its.bytesize};
    }
  }

  static constexpr int kDeepest = 16;
  const std::size_t devices_;
  std::map<CUdeviceptr, Holding> allocated_;
  std::set<CUdeviceptr> freed_;
};

template <Symbol kSymbol, class... Rest>
CUresult instantiate(CUgraphExec* executable, CUgraph graph, Rest... rest) {
  Tenancy* const tenancy = Tenancy::current();
  GraphMemory::Allocations its;
  if (tenancy != nullptr) {
    Nodes nodes(tenancy->gates().size());
    nodes.add(graph);
    its = nodes.allocations();
  }
  if (its.all.empty()) return call_driver(kSymbol, executable, graph, rest...);
  if (!tenancy->graph_memory().charge(its.all)) return CUDA_ERROR_OUT_OF_MEMORY;
  const CUresult code = call_driver(kSymbol, executable, graph, rest...);
  if (code != CUDA_SUCCESS) {
    tenancy->graph_memory().give_back(its.all);
  } else {
    tenancy->graph_memory().hold(reinterpret_cast<std::uintptr_t>(*executable), std::move(its));
  }
  return code;
}

CUresult destroy_executable(CUgraphExec executable) {
  Tenancy* const tenancy = Tenancy::current();
  const auto handle = reinterpret_cast<std::uintptr_t>(executable);
  GraphMemory::Allocations its;
  if (tenancy != nullptr) its = tenancy->graph_memory().take(handle);
  const CUresult code = call_driver(Symbol::cuGraphExecDestroy_, executable);
  if (its.all.empty()) return code;
  if (code == CUDA_SUCCESS) {
    tenancy->graph_memory().gone(its);
  } else {
    tenancy->graph_memory().hold(handle, std::move(its));
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
