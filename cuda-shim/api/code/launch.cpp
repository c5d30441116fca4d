#include "cuda-shim/api/code/launch.hpp"

#include <algorithm>
#include <cstring>

#include "cuda-shim/api/driver.hpp"

namespace fairgv::cuda {
namespace {

/// cuLaunchKernel's `extra` names each value by one of these (cuda.h has them as macros with old-style
/// casts).
enum class Extra : std::uintptr_t { end = 0, buffer = 1, buffer_size = 2 };

CUresult gather_from_extra(std::uint64_t bytes, void* const* extra, std::byte* block) {
  const void* buffer = nullptr;
  const std::size_t* size = nullptr;
  for (; static_cast<Extra>(reinterpret_cast<std::uintptr_t>(*extra)) != Extra::end; extra += 2) {
    switch (static_cast<Extra>(reinterpret_cast<std::uintptr_t>(*extra))) {
      case Extra::buffer:
        buffer = extra[1];
        break;
      case Extra::buffer_size:
        size = static_cast<const std::size_t*>(extra[1]);
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if (buffer == nullptr || size == nullptr || *size < bytes) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(block, buffer, bytes);
  return CUDA_SUCCESS;
}

constexpr CUdevice_attribute kGridSides[3] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                              CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                              CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
constexpr CUdevice_attribute kBlockSides[3] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                                               CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                               CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};

}  // namespace

LaunchLimits launch_limits(const Engine& engine, CUdevice device) {
  const auto fact = [&](CUdevice_attribute which) {
    return static_cast<std::uint32_t>(std::max(0, engine.attribute(device, which)));
  };
  LaunchLimits limits;
  for (std::size_t at = 0; at < 3; ++at) {
    limits.grid[at] = fact(kGridSides[at]);
    limits.block[at] = fact(kBlockSides[at]);
  }
  limits.threads = fact(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  limits.clusters = fact(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0;
  limits.cooperative = fact(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
  return limits;
}

CUresult check_shape(const Driver& driver, CUdevice device, const Function& function,
                     const LaunchShape& shape) {
  const LaunchLimits& most = driver.launch_limits(device);
  const FunctionFacts& facts = function.facts();
  std::uint64_t threads = 1;
  bool clustered = false;
  for (std::size_t at = 0; at < 3; ++at) {
    if (shape.grid[at] == 0 || shape.block[at] == 0) return CUDA_ERROR_INVALID_VALUE;
    if (shape.grid[at] > most.grid[at] || shape.block[at] > most.block[at]) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const std::uint32_t required = facts.required_threads[at];
    if (required != 0 && required != shape.block[at]) return CUDA_ERROR_INVALID_VALUE;
    threads *= shape.block[at];
    clustered = clustered || shape.cluster[at] > 1;
  }
  if (threads > most.threads) return CUDA_ERROR_INVALID_VALUE;
  if (clustered && !most.clusters) return CUDA_ERROR_NOT_SUPPORTED;
  if (shape.cooperative && !most.cooperative) return CUDA_ERROR_NOT_SUPPORTED;
  if (threads > facts.largest_block) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  if (shape.dynamic_shared > function.largest_dynamic_shared()) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult take_attribute(CUlaunchAttributeID which, const CUlaunchAttributeValue& value, LaunchShape& shape) {
  switch (which) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      shape.priority = value.priority;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      shape.cooperative = value.cooperative != 0;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      shape.cluster[0] = value.clusterDim.x;
      shape.cluster[1] = value.clusterDim.y;
      shape.cluster[2] = value.clusterDim.z;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      return CUDA_SUCCESS;  // a permission to overlap, not a demand
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult gather_parameters(const Function& function, void* const* parameters, void* const* extra,
                           std::vector<std::uint64_t>& block) {
  const std::uint64_t size = function.facts().parameter_bytes;
  const auto& layout = function.facts().parameters;
  block.assign(std::max<std::size_t>(1, (size + 7) / 8), 0);
  auto* const bytes = reinterpret_cast<std::byte*>(block.data());
  if (parameters != nullptr && extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (extra != nullptr) return gather_from_extra(size, extra, bytes);
  if (layout.empty()) return CUDA_SUCCESS;
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t at = 0; at < layout.size(); ++at) {
    const ParameterPlace& parameter = layout[at];
    if (parameters[at] == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(bytes + parameter.offset, parameters[at], parameter.size);
  }
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda
