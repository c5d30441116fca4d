#include "cuda-shim/api/graph/step.hpp"

#include "cuda-shim/api/graph/graph_memory.hpp"
#include "cuda-shim/api/memory/ranges.hpp"

namespace fairgv::cuda {
namespace {

/// Memory that its graph has given up goes in the stream's order.
CUresult free_from_graph(Driver& driver, const std::shared_ptr<Stream>& stream, CUdeviceptr address) {
  const auto allocation = driver.memory.find_begin(address);
  const Freeing freeing = allocation ? begin_free(*allocation) : Freeing::refused;
  if (freeing == Freeing::removes)
    driver.scheduler.free_in_order(stream, allocation,
                                   [&driver, allocation] { driver.memory.remove(*allocation); });
  return freeing == Freeing::refused ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

CUresult enqueue_step(Driver& driver, const std::shared_ptr<Stream>& stream, const NodeWork& work,
                      const FoundPlaces& places, const Detour& detour) {
  const auto enqueue_node = [&](const auto& node) -> CUresult {
    using Kind = std::decay_t<decltype(node)>;
    if constexpr (std::is_same_v<Kind, CopyNode>) {
      if (is_empty(places.extent)) return CUDA_SUCCESS;
      return detour.copy(driver, stream, places.to, places.from, places.extent);
    } else if constexpr (std::is_same_v<Kind, FillCommand>) {
      return places.filled ? driver.scheduler.fill(stream, node.fill, *places.filled) : CUDA_SUCCESS;
    } else if constexpr (std::is_same_v<Kind, EmptyNode> || std::is_same_v<Kind, ChildNode> ||
                         std::is_same_v<Kind, ConditionalNode>) {
      return CUDA_SUCCESS;
    } else if constexpr (std::is_same_v<Kind, AllocateNode>) {
      node.memory->allocate();
      return CUDA_SUCCESS;
    } else if constexpr (std::is_same_v<Kind, FreeNode>) {
      return free_from_graph(driver, stream, node.address);
    } else {
      return enqueue(driver, stream, node);
    }
  };
  return std::visit(enqueue_node, work);
}

}  // namespace fairgv::cuda
