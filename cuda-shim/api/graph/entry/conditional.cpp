// Entry points: conditional handles (CUDA Driver API, "Graph Management"). Conditional nodes are added like
// others, in node.cpp.
#include <atomic>
#include <cstdio>
#include <optional>

#include "cuda-shim/api/graph/conditional/condition.hpp"
#include "cuda-shim/api/graph/entry/graph_entry.hpp"

namespace fairgv::cuda {
namespace {

CUresult refuse(const Driver& driver) {
  static std::atomic<bool> told{false};  // relaxed: one line is enough
  if (!told.exchange(true, std::memory_order_relaxed)) {
    std::fprintf(stderr,
                 "%s: conditional nodes of graphs are not served over NVIDIA's driver, whose kernels set its "
                 "own handles; run the program by 'fairgv run --direct'\n",
                 driver.engine.name());
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph_handle,
                                                CUcontext context_handle, unsigned int default_value,
                                                unsigned int flags) {
  return initialized([=](Driver& driver) {
    const auto graph = driver.graphs.graphs.find(graph_handle);
    if (handle == nullptr || !graph || (flags & ~unsigned{CU_GRAPH_COND_ASSIGN_DEFAULT}) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    CUresult code = CUDA_SUCCESS;
    const auto context = named_or_current(driver, context_handle, code);
    if (!context) return code;
    if (const CUresult fault = context->group()->fault(); fault != CUDA_SUCCESS) return fault;
    if (!driver.description(context->device()).sets_conditions) return refuse(driver);
    std::optional<std::uint32_t> assigned;
    if ((flags & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0) assigned = default_value;
    std::shared_ptr<Condition> condition;  // goes without the lock
    code = Condition::make(driver, *context, graph, assigned, condition);
    if (code != CUDA_SUCCESS) return code;
    const std::lock_guard guard(driver.graphs.lock);
    if (driver.graphs.graphs.find(graph_handle) != graph) return CUDA_ERROR_INVALID_VALUE;
    *handle = driver.graphs.enter_condition(*graph, condition);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
