#include <algorithm>
#include <iterator>

#include "cuda-shim/softcuda/driver/code/module.hpp"
#include "cuda-shim/softcuda/driver/device/limits.hpp"
#include "cuda-shim/softcuda/driver/engine.hpp"

namespace fairgv::cuda::soft {
namespace {

std::uint32_t product(const std::uint32_t (&sides)[3]) {
  return sides[0] * sides[1] * sides[2];
}

std::uint64_t rounded(std::uint64_t bytes) {
  return (bytes + kSharedGranularity - 1) / kSharedGranularity * kSharedGranularity;
}

std::uint32_t largest_block(const KernelInfo& info, const DeviceFacts& device) {
  std::uint32_t largest = largest_block(device);
  if (info.max_threads[0] != 0) {
    const std::uint32_t said = std::max(1U, info.max_threads[0]) * std::max(1U, info.max_threads[1]) *
                               std::max(1U, info.max_threads[2]);
    largest = std::min(largest, said);
  }
  if (info.required_threads[0] != 0) largest = std::min(largest, product(info.required_threads));
  return largest;
}

FunctionFacts facts_of(const KernelInfo& info, const DeviceFacts& device) {
  FunctionFacts facts;
  facts.name = info.name;
  for (const softcuda::Parameter& parameter : info.parameters)
    facts.parameters.push_back({parameter.offset, parameter.size});
  facts.parameter_bytes = info.parameter_bytes;
  facts.largest_block = largest_block(info, device);
  std::copy(std::begin(info.required_threads), std::end(info.required_threads),
            std::begin(facts.required_threads));
  return facts;
}

}  // namespace

Function::Function(std::shared_ptr<Module> module, const KernelInfo& info, cl_kernel kernel)
    : cuda::Function(module, facts_of(info, module->engine().opencl->facts())), info_(info), kernel_(kernel) {
  const std::uint64_t usual = shared_per_block(module->engine().opencl->facts());
  set_largest_dynamic_shared(usual > info.static_shared_bytes ? usual - info.static_shared_bytes : 0);
}

CUresult Function::attribute(CUfunction_attribute which, int& value) const {
  const TranslatedModule& module = own_module().image().translated();
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      value = static_cast<int>(facts().largest_block);
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
      value = static_cast<int>(info_.registers);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      // Not the language's version: CUB picks its kernels by this.
      value = static_cast<int>(module.architecture);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      value = static_cast<int>(kComputeCapability);
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
  const OpenClDevice& device = *own_module().engine().opencl;
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
      const std::uint64_t most = shared_at_most(device.facts());
      if (value < 0 || static_cast<std::uint64_t>(value) + info_.static_shared_bytes > most) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      set_largest_dynamic_shared(static_cast<std::uint64_t>(value));
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
                                  std::uint64_t& blocks) {
  const DeviceFacts& device = own_module().engine().opencl->facts();
  blocks = 0;
  if (threads > facts().largest_block) return CUDA_SUCCESS;
  const std::uint64_t warps = (threads + kWarp - 1) / kWarp;
  blocks = std::min<std::uint64_t>(kBlocksPerMultiprocessor, kThreadsPerMultiprocessor / kWarp / warps);
  const std::uint64_t shared = rounded(info_.static_shared_bytes + dynamic_shared);
  if (shared != 0) blocks = std::min(blocks, shared_at_most(device) / shared);
  return CUDA_SUCCESS;
}

CUresult Function::available_shared(std::uint32_t blocks, std::uint32_t threads, std::uint64_t& bytes) {
  std::uint64_t most = 0;
  if (blocks_at_once(threads, 0, 0, most) != CUDA_SUCCESS || blocks > most) return CUDA_ERROR_INVALID_VALUE;
  const DeviceFacts& device = own_module().engine().opencl->facts();
  const std::uint64_t each = shared_at_most(device) / blocks / kSharedGranularity * kSharedGranularity;
  const std::uint64_t fixed = info_.static_shared_bytes;
  bytes = each > fixed ? std::min(each - fixed, largest_dynamic_shared()) : 0;
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::soft
