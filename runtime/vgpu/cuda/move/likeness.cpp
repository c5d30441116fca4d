#include "runtime/vgpu/cuda/move/likeness.hpp"

#include <cuda.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fairgv::vgpu::cuda {
namespace {

enum class Rule {
  as_much,   // a program may use it up, or need it; most attributes are such
  same,      // a program, or its code, has been made for it
  as_small,  // a program keeps to it
  any,       // of the place or the speed of a device
};

Rule rule_of(std::size_t attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
      return Rule::same;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
    case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
    case CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT:
      return Rule::as_small;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
    case CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID:
    case CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT:
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
    case CU_DEVICE_ATTRIBUTE_NUMA_ID:
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
      return Rule::any;
    default:
      return Rule::as_much;
  }
}

bool keeps(Rule rule, std::int32_t before, std::int32_t after) {
  switch (rule) {
    case Rule::as_much:
      return after >= before;
    case Rule::same:
      return after == before;
    case Rule::as_small:
      return after <= before;
    case Rule::any:
      return true;
  }
  return false;
}

}  // namespace

std::optional<DeviceDifference> lacks(const wire::cuda::DeviceFacts& from,
                                      const wire::cuda::DeviceFacts& to) {
  if (from.sets_conditions != to.sets_conditions)
    return DeviceDifference{"conditional nodes of graphs work otherwise there", true};
  std::optional<DeviceDifference> found;
  const std::size_t count = std::max(from.attributes.size(), to.attributes.size());
  const auto value_of = [](const wire::cuda::DeviceFacts& facts, std::size_t attribute) {
    return attribute < facts.attributes.size() ? facts.attributes[attribute] : 0;
  };
  for (std::size_t attribute = 0; attribute < count; ++attribute) {
    const std::int32_t before = value_of(from, attribute);
    const std::int32_t after = value_of(to, attribute);
    if (keeps(rule_of(attribute), before, after)) continue;
    // Memory of such a device is the host's, which the program touches itself.
    const bool excludes = attribute == CU_DEVICE_ATTRIBUTE_INTEGRATED;
    if (found && !excludes) continue;
    found = {fmt::format("its attribute {} (CUdevice_attribute) would be {} instead of {}", attribute, after,
                         before),
             excludes};
  }
  return found;
}

}  // namespace fairgv::vgpu::cuda
