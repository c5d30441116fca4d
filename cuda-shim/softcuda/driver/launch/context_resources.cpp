#include "cuda-shim/softcuda/driver/launch/context_resources.hpp"

#include <algorithm>

#include "cuda-shim/softcuda/translate/heap_block.hpp"

namespace fairgv::cuda::soft {
namespace {

// A frame of ours holds whole words where a GPU's holds registers: the same recursion needs more.
constexpr std::uint64_t kStackFactor = 4;
constexpr std::uint64_t kLeastStack = 4096;
constexpr std::uint64_t kMostStack = std::uint64_t{16} << 20U;
constexpr std::size_t kLeastHeap = 4096;

}  // namespace

/// The initial limits of NVIDIA's driver. The printf ring's size is only stored.
ContextResources::ContextResources()
    : limits_{{CU_LIMIT_STACK_SIZE, 1024},
              {CU_LIMIT_PRINTF_FIFO_SIZE, std::size_t{1} << 20U},
              {CU_LIMIT_MALLOC_HEAP_SIZE, std::size_t{8} << 20U}} {}

CUresult ContextResources::limit(CUlimit which, std::size_t& value) const {
  const std::lock_guard guard(lock_);
  const auto found = limits_.find(which);
  if (found == limits_.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  value = found->second;
  return CUDA_SUCCESS;
}

CUresult ContextResources::set_limit(CUlimit which, std::size_t value) {
  const std::lock_guard guard(lock_);
  const auto found = limits_.find(which);
  if (found == limits_.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  if (which == CU_LIMIT_MALLOC_HEAP_SIZE && heap_) return CUDA_ERROR_INVALID_VALUE;
  found->second = value;
  return CUDA_SUCCESS;
}

std::uint32_t ContextResources::stack_bytes() const {
  const std::lock_guard guard(lock_);
  const std::uint64_t asked = std::min<std::uint64_t>(limits_.at(CU_LIMIT_STACK_SIZE), kMostStack);
  return static_cast<std::uint32_t>((asked * kStackFactor + kLeastStack + 63) / 64 * 64);
}

std::uint64_t ContextResources::heap(const OpenClDevice& device) {
  const std::lock_guard guard(lock_);
  if (!heap_) {
    const std::size_t bytes = std::max(limits_.at(CU_LIMIT_MALLOC_HEAP_SIZE), kLeastHeap);
    heap_ = device.allocate_for_programs(softcuda::heap_memory_bytes(bytes));
    if (!heap_) return 0;
    heap_bytes_ = softcuda::heap_memory_bytes(bytes);
    softcuda::make_heap(heap_.data(), bytes);
  }
  return heap_.address();
}

ContextResources::HeapMemory ContextResources::heap_memory() const {
  const std::lock_guard guard(lock_);
  return heap_ ? HeapMemory{heap_.address(), heap_bytes_} : HeapMemory{};
}

}  // namespace fairgv::cuda::soft
