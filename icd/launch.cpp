#include "icd/launch.hpp"

#include <algorithm>

namespace fairgv::icd {
namespace {

cl_int check_local_size(const IndexSpace& space, const DeviceFacts& device, const KernelLimits& kernel) {
  std::uint64_t group = 1;
  for (cl_uint d = 0; d < space.dimensions; ++d) {
    const std::uint64_t local =
        std::max<std::uint64_t>(space.local[d], 1);  // 0: drivers take it as they like
    if (local > device.max_item_sizes[d]) return CL_INVALID_WORK_ITEM_SIZE;
    if (!kernel.non_uniform_groups && space.global[d] % local != 0) return CL_INVALID_WORK_GROUP_SIZE;
    group *= local;  // cannot overflow: each factor is at most the device's limit, checked before the next
    if (group > std::min(device.max_group_size, kernel.max_group_size)) return CL_INVALID_WORK_GROUP_SIZE;
  }
  return CL_SUCCESS;
}

cl_int check_required_size(const IndexSpace& space, const KernelLimits& kernel) {
  if (space.local == nullptr) return CL_INVALID_WORK_GROUP_SIZE;
  for (cl_uint d = 0; d < space.dimensions; ++d) {
    const std::uint64_t required = kernel.required_group_size[d];
    if (space.local[d] != required || space.global[d] % required != 0) return CL_INVALID_WORK_GROUP_SIZE;
  }
  return CL_SUCCESS;
}

wire::Extent3 extent(cl_uint dimensions, const size_t* values, std::uint64_t missing) {
  if (values == nullptr) return {0, 0, 0};
  return {values[0], dimensions > 1 ? values[1] : missing, dimensions > 2 ? values[2] : missing};
}

}  // namespace

bool IndexSpace::is_empty() const {
  return global == nullptr || std::any_of(global, global + dimensions, [](size_t size) { return size == 0; });
}

cl_int check_index_space(const IndexSpace& space, const DeviceFacts& device, const KernelLimits& kernel) {
  if (space.dimensions < 1 || space.dimensions > std::min<std::uint64_t>(device.max_dimensions, 3)) {
    return CL_INVALID_WORK_DIMENSION;
  }
  if (space.is_empty()) return device.at_least(2, 1) ? CL_SUCCESS : CL_INVALID_GLOBAL_WORK_SIZE;
  for (cl_uint d = 0; d < space.dimensions; ++d) {
    if (space.offset != nullptr && space.offset[d] > SIZE_MAX - space.global[d])
      return CL_INVALID_GLOBAL_OFFSET;
  }
  if (kernel.required_group_size[0] != 0) return check_required_size(space, kernel);
  return space.local == nullptr ? CL_SUCCESS : check_local_size(space, device, kernel);
}

cl_int check_launch(const Queue& queue, Kernel& kernel, const IndexSpace& space) {
  if (&kernel.context() != &queue.context()) return CL_INVALID_CONTEXT;
  const DeviceFacts* const device = queue.device().facts();
  const KernelLimits* const limits = kernel.limits(queue.device());
  if (device == nullptr || limits == nullptr) return kSessionLost;
  if (!limits->executable) return CL_INVALID_PROGRAM_EXECUTABLE;
  return check_index_space(space, *device, *limits);
}

wire::EnqueueKernel make_launch(const Kernel& kernel, const IndexSpace& space) {
  wire::EnqueueKernel call;
  call.kernel = kernel.id();
  call.dimensions = space.dimensions;
  call.has_local_size = space.local != nullptr;
  call.has_global_offset = space.offset != nullptr;
  call.global_offset = extent(space.dimensions, space.offset, 0);
  call.global_size = extent(space.dimensions, space.global, 1);
  call.local_size = extent(space.dimensions, space.local, 1);
  return call;
}

}  // namespace fairgv::icd
