// Entry points: memory in stream order (CUDA Driver API, "Stream Ordered Memory Allocator", "Unified
// Addressing"). Compiled twice: stream_entry.hpp.
#include "cuda-shim/api/memory/ranges.hpp"
#include "cuda-shim/api/objects.hpp"
#include "cuda-shim/api/stream/stream_entry.hpp"

namespace fairgv::cuda {
namespace {

/// The memory is available at once, which is earlier than the stream's order requires.
CUresult allocate(CUdeviceptr* address, std::size_t size, CUmemoryPool* wanted, CUstream handle) noexcept {
  return on_uncaptured_stream(handle, [=](Driver& driver, Context& context, const std::shared_ptr<Stream>&) {
    if (address == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
    const auto pool = wanted != nullptr ? driver.pools.find(*wanted) : driver.current_pool(context.device());
    if (!pool) return CUDA_ERROR_INVALID_VALUE;
    if (pool->properties.maxSize != 0) {
      std::uint64_t used = 0;
      pool->attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used);
      if (used + size > pool->properties.maxSize) return CUDA_ERROR_OUT_OF_MEMORY;
    }
    MemoryWish wish{size, MemoryKind::pooled};
    wish.pool = pool->handle();
    std::shared_ptr<Allocation> allocation;
    if (const CUresult code = driver.allocate(context, wish, allocation); code != CUDA_SUCCESS) return code;
    pool->charge(size);
    *address = allocation->begin;
    return CUDA_SUCCESS;
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
  return on_uncaptured_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if (address == 0) return CUDA_SUCCESS;
    const auto allocation = driver.memory.find_begin(address);
    const bool freeable = allocation && !allocation->is_host() && allocation->kind != MemoryKind::variable &&
                          !allocation->freed.exchange(true, std::memory_order_acq_rel);
    if (!freeable) return CUDA_ERROR_INVALID_VALUE;
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
