#include "cuda-shim/api/graph/graph_memory.hpp"

#include <algorithm>

#include "cuda-shim/api/driver.hpp"

namespace fairgv::cuda {

void GraphMemoryBooks::charge(CUdevice device, std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  Books& books = devices_[static_cast<std::size_t>(device)];
  books.used += bytes;
  books.high = std::max(books.high, books.used);
}

void GraphMemoryBooks::discharge(CUdevice device, std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  devices_[static_cast<std::size_t>(device)].used -= bytes;
}

CUresult GraphMemoryBooks::attribute(CUdevice device, CUgraphMem_attribute which,
                                     std::uint64_t& value) const {
  const std::lock_guard guard(lock_);
  const Books& books = devices_[static_cast<std::size_t>(device)];
  switch (which) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      value = books.used;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      value = books.high;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult GraphMemoryBooks::reset(CUdevice device, CUgraphMem_attribute which) {
  if (which != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH && which != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
    return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(lock_);
  Books& books = devices_[static_cast<std::size_t>(device)];
  books.high = books.used;
  return CUDA_SUCCESS;
}

CUresult GraphMemory::make(Driver& driver, Context& context, const CUDA_MEM_ALLOC_NODE_PARAMS& parameters,
                           std::shared_ptr<GraphMemory>& memory) {
  const CUmemPoolProps& pool = parameters.poolProps;
  if (parameters.bytesize == 0 || (parameters.accessDescs == nullptr && parameters.accessDescCount != 0))
    return CUDA_ERROR_INVALID_VALUE;
  if (pool.allocType != CU_MEM_ALLOCATION_TYPE_PINNED || pool.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
      pool.location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const auto is_other_device = [&pool](const CUmemAccessDesc& access) {
    return access.location.type != CU_MEM_LOCATION_TYPE_DEVICE || access.location.id != pool.location.id;
  };
  // No device has peers.
  if (pool.location.id != context.device() ||
      std::any_of(parameters.accessDescs, parameters.accessDescs + parameters.accessDescCount,
                  is_other_device)) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  std::shared_ptr<Allocation> allocation;
  const CUresult code = driver.allocate(context, {parameters.bytesize, MemoryKind::graph}, allocation);
  if (code == CUDA_SUCCESS) memory = std::make_shared<GraphMemory>(driver, std::move(allocation), parameters);
  return code;
}

GraphMemory::GraphMemory(Driver& driver, std::shared_ptr<Allocation> allocation,
                         const CUDA_MEM_ALLOC_NODE_PARAMS& parameters)
    : driver_(driver), allocation_(std::move(allocation)), parameters_(parameters) {
  parameters_.dptr = allocation_->begin;
  parameters_.accessDescs = nullptr;  // the program's own memory
  parameters_.accessDescCount = 0;
  driver_.graph_memory.charge(allocation_->device, allocation_->size);
}

GraphMemory::~GraphMemory() {
  driver_.graph_memory.discharge(allocation_->device, allocation_->size);
  GraphHold hold = GraphHold::idle;
  if (allocation_->hold.compare_exchange_strong(hold, GraphHold::none, std::memory_order_acq_rel)) {
    driver_.memory.remove(*allocation_);
  } else if (hold == GraphHold::live &&
             !allocation_->hold.compare_exchange_strong(hold, GraphHold::orphan, std::memory_order_acq_rel)) {
    driver_.memory.remove(*allocation_);  // freed at this moment
  }
}

bool GraphMemory::is_live() const {
  return allocation_->hold.load(std::memory_order_acquire) == GraphHold::live;
}

void GraphMemory::allocate() {
  allocation_->hold.store(GraphHold::live, std::memory_order_release);
}

}  // namespace fairgv::cuda
