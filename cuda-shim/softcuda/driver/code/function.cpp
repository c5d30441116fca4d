#include <algorithm>

#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/softcuda/driver/module.hpp"
#include "cuda-shim/softcuda/driver/device/limits.hpp"

namespace fairgv::cuda {
namespace {

std::uint32_t product(const std::uint32_t (&sides)[3]) {
  return sides[0] * sides[1] * sides[2];
}

std::uint64_t rounded(std::uint64_t bytes) {
  return (bytes + kSharedGranularity - 1) / kSharedGranularity * kSharedGranularity;
}

}  // namespace

std::uint32_t Function::largest_block() const {
  const OpenClDevice& device = *module_->driver().opencl;
  std::uint32_t largest = cuda::largest_block(device.facts());
  if (info_.max_threads[0] != 0) {
    const std::uint32_t said = std::max(1U, info_.max_threads[0]) * std::max(1U, info_.max_threads[1]) *
                               std::max(1U, info_.max_threads[2]);
    largest = std::min(largest, said);
  }
  if (info_.required_threads[0] != 0) largest = std::min(largest, product(info_.required_threads));
  return largest;
}

std::uint64_t Function::largest_dynamic_shared() const {
  const OpenClDevice& device = *module_->driver().opencl;
  const int asked = dynamic_shared_.load(std::memory_order_relaxed);
  if (asked >= 0) return static_cast<std::uint64_t>(asked);
  const std::uint64_t usual = shared_per_block(device.facts());
  return usual > info_.static_shared_bytes ? usual - info_.static_shared_bytes : 0;
}

CUresult Function::attribute(CUfunction_attribute which, int& value) const {
  const TranslatedModule& module = module_->image().translated();
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      value = static_cast<int>(largest_block());
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      value = static_cast<int>(info_.static_shared_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      value = static_cast<int>(info_.constant_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      value = static_cast<int>(info_.local_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      value = static_cast<int>(kRegistersPerThread);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      // Not the language's version: CUB picks its kernels by this.
      value = static_cast<int>(module.architecture);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      value = static_cast<int>(kComputeMajor * 10 + kComputeMinor);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      value = static_cast<int>(largest_dynamic_shared());
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      value = carveout_.load(std::memory_order_relaxed);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      value = 0;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult Function::set_attribute(CUfunction_attribute which, int value) {
  const OpenClDevice& device = *module_->driver().opencl;
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
      const std::uint64_t most = shared_at_most(device.facts());
      if (value < 0 || static_cast<std::uint64_t>(value) + info_.static_shared_bytes > most) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      dynamic_shared_.store(value, std::memory_order_relaxed);
      return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
      carveout_.store(value, std::memory_order_relaxed);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return CUDA_ERROR_NOT_SUPPORTED;  // no clusters before compute capability 9.0
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult Function::blocks_at_once(std::uint32_t threads, std::uint64_t dynamic_shared, unsigned,
                                  std::uint64_t& blocks) const {
  const DeviceFacts& facts = module_->driver().opencl->facts();
  blocks = 0;
  if (threads > largest_block()) return CUDA_SUCCESS;
  const std::uint64_t warps = (threads + kWarp - 1) / kWarp;
  blocks =
      std::min<std::uint64_t>(kBlocksPerMultiprocessor, threads_per_multiprocessor(facts) / kWarp / warps);
  const std::uint64_t shared = rounded(info_.static_shared_bytes + dynamic_shared);
  if (shared != 0) blocks = std::min(blocks, shared_at_most(facts) / shared);
  return CUDA_SUCCESS;
}

CUresult Function::available_shared(std::uint32_t blocks, std::uint32_t threads, std::uint64_t& bytes) const {
  std::uint64_t most = 0;
  if (blocks_at_once(threads, 0, 0, most) != CUDA_SUCCESS || blocks > most) return CUDA_ERROR_INVALID_VALUE;
  const DeviceFacts& facts = module_->driver().opencl->facts();
  const std::uint64_t each = shared_at_most(facts) / blocks / kSharedGranularity * kSharedGranularity;
  const std::uint64_t fixed = info_.static_shared_bytes;
  bytes = each > fixed ? std::min(each - fixed, largest_dynamic_shared()) : 0;
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda
