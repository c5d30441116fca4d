// Entry points: memory in stream order (CUDA Driver API, "Stream Ordered Memory Allocator", "Unified
// Addressing"). Compiled twice: stream_entry.hpp.
#include "cuda-shim/api/graph/graph.hpp"
#include "cuda-shim/api/graph/graph_memory.hpp"
#include "cuda-shim/api/memory/ranges.hpp"
#include "cuda-shim/api/objects.hpp"
#include "cuda-shim/api/stream/stream_entry.hpp"

namespace fairgv::cuda {
namespace {

CUresult allocate_here(Driver& driver, Context& context, std::size_t size, Pool& pool, CUdeviceptr& address) {
  if (pool.properties.maxSize != 0) {
    std::uint64_t used = 0;
    pool.attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used);
    if (used + size > pool.properties.maxSize) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  MemoryWish wish{size, MemoryKind::pooled};
  wish.pool = pool.handle();
  std::shared_ptr<Allocation> allocation;
  if (const CUresult code = driver.allocate(context, wish, allocation); code != CUDA_SUCCESS) return code;
  pool.charge(size);
  address = allocation->begin;
  return CUDA_SUCCESS;
}

/// In a capture the allocation becomes a node, whatever the pool.
CUresult allocate_in_capture(Driver& driver, Context& context, const std::shared_ptr<Stream>& stream,
                             std::size_t size, const Pool& pool, CUdeviceptr& address) {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps = pool.properties;
  parameters.bytesize = size;
  AllocateNode node;
  CUresult code = GraphMemory::make(driver, context, parameters, node.memory);
  if (code != CUDA_SUCCESS) return code;
  address = node.memory->parameters().dptr;
  // The capture may have ended meanwhile.
  return driver.captures.take(driver, stream, node, code) ? code : CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
}

/// Whether the stream is being captured. An error: its capture is lost.
CUresult is_captured(Driver& driver, const std::shared_ptr<Stream>& stream, bool& captured) {
  captured = false;
  if (!driver.captures.any()) return CUDA_SUCCESS;
  Captures::Info info;
  const CUresult code = driver.captures.info(stream, info);
  captured = info.status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (code != CUDA_SUCCESS) return driver.captures.refuse(stream);
  return info.status == CU_STREAM_CAPTURE_STATUS_INVALIDATED ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                                             : CUDA_SUCCESS;
}

/// Outside captures the memory is available at once, which is earlier than the stream's order requires.
CUresult allocate(CUdeviceptr* address, std::size_t size, CUmemoryPool* wanted, CUstream handle) noexcept {
  return on_stream(handle, [=](Driver& driver, Context& context, const std::shared_ptr<Stream>& stream) {
    if (address == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
    const auto pool = wanted != nullptr ? driver.pools.find(*wanted) : driver.current_pool(context.device());
    if (!pool) return CUDA_ERROR_INVALID_VALUE;
    bool captured = false;
    if (const CUresult code = is_captured(driver, stream, captured); code != CUDA_SUCCESS) return code;
    return captured ? allocate_in_capture(driver, context, stream, size, *pool, *address)
                    : allocate_here(driver, context, size, *pool, *address);
  });
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr* address, std::size_t size, CUstream stream) {
  return allocate(address, size, nullptr, stream);
}

CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t size, CUmemoryPool pool,
                                         CUstream stream) {
  return allocate(address, size, &pool, stream);
}

CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (address == 0) return CUDA_SUCCESS;
    const auto allocation = driver.memory.find_begin(address);
    bool captured = false;
    if (const CUresult code = is_captured(driver, stream, captured); code != CUDA_SUCCESS) return code;
    if (captured) {
      CUresult code = CUDA_SUCCESS;
      if (!allocation || allocation->kind != MemoryKind::graph) return CUDA_ERROR_INVALID_VALUE;
      return driver.captures.take(driver, stream, FreeNode{address}, code)
                 ? code
                 : CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    const Freeing freeing = allocation ? begin_free(*allocation) : Freeing::refused;
    if (freeing == Freeing::refused) return CUDA_ERROR_INVALID_VALUE;
    if (freeing == Freeing::kept_by_graph) return CUDA_SUCCESS;
    driver.scheduler.free_in_order(stream, allocation, [&driver, allocation] {
      driver.memory.remove(*allocation);
      discharge_pool(driver, *allocation);
    });
    return CUDA_SUCCESS;
  });
}

// Prefetching has no effect, because there is one memory. Its errors are reported all the same.
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr address, std::size_t size, CUmemLocation location,
                                    unsigned int flags, CUstream handle) {
  return on_uncaptured_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>&) {
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : check_managed_range(driver, address, size, location);
  });
}

CUresult CUDAAPI cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, std::size_t size,
                                        unsigned int flags) {
  return on_uncaptured_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>&) {
    const auto allocation = driver.memory.find_begin(address);
    const bool whole = allocation && (size == 0 || size == allocation->size);
    if (!whole || !allocation->is_managed()) return CUDA_ERROR_INVALID_VALUE;
    return flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
