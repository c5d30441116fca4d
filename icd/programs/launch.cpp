#include "icd/programs/launch.hpp"

#include <algorithm>

namespace fairgv::icd {
namespace {

/// Whether every driver takes groups of that size.
bool is_usual_group(const IndexSpace& space, const DeviceFacts& device, const KernelLimits& kernel) {
  std::uint64_t group = 1;
  for (cl_uint d = 0; d < space.dimensions; ++d) {
    const std::uint64_t local = space.local[d];
    if (local == 0 || local > device.max_item_sizes[d]) return false;
    if (!kernel.non_uniform_groups && space.global[d] % local != 0) return false;
    group *= local;  // cannot overflow: each factor is at most the device's limit, checked before the next
    if (group > std::min(device.max_group_size, kernel.max_group_size)) return false;
  }
  return true;
}

bool has_required_group(const IndexSpace& space, const KernelLimits& kernel) {
  for (cl_uint d = 0; d < space.dimensions; ++d) {
    const std::uint64_t required = kernel.required_group_size[d];
    if (space.local[d] != required || space.global[d] % required != 0) return false;
  }
  return true;
}

bool is_usual(const IndexSpace& space, const DeviceFacts& device, const KernelLimits& kernel,
              std::uint64_t local_bytes) {
  if (space.is_empty()) return false;
  if (local_bytes + kernel.local_bytes > device.local_memory) return false;
  const bool has_required = kernel.required_group_size[0] != 0;
  if (space.local == nullptr) return !has_required;
  return has_required ? has_required_group(space, kernel) : is_usual_group(space, device, kernel);
}

wire::Extent3 extent(cl_uint dimensions, const size_t* values, std::uint64_t missing) {
  if (values == nullptr) return {0, 0, 0};
  return {values[0], dimensions > 1 ? values[1] : missing, dimensions > 2 ? values[2] : missing};
}

}  // namespace

bool IndexSpace::is_empty() const {
  return global == nullptr || std::any_of(global, global + dimensions, [](size_t size) { return size == 0; });
}

cl_int check_index_space(const IndexSpace& space, const DeviceFacts& device, const KernelLimits& kernel,
                         std::uint64_t local_bytes) {
  if (space.dimensions < 1 || space.dimensions > std::min<std::uint64_t>(device.max_dimensions, 3)) {
    return CL_INVALID_WORK_DIMENSION;
  }
  for (cl_uint d = 0; space.global != nullptr && d < space.dimensions; ++d) {
    if (space.offset != nullptr && space.offset[d] > SIZE_MAX - space.global[d])
      return CL_INVALID_GLOBAL_OFFSET;
  }
  return is_usual(space, device, kernel, local_bytes) ? CL_SUCCESS : kDriverDecides;
}

cl_int check_launch(const Queue& queue, Kernel& kernel, const IndexSpace& space) {
  if (&kernel.context() != &queue.context()) return CL_INVALID_CONTEXT;
  const DeviceFacts* const device = queue.device().facts();
  const KernelLimits* const limits = kernel.limits(queue.device());
  if (device == nullptr || limits == nullptr) return kSessionLost;
  if (!limits->executable) return CL_INVALID_PROGRAM_EXECUTABLE;
  const cl_int error = check_index_space(space, *device, *limits, kernel.local_argument_bytes());
  if (error != kDriverDecides) return error;
  return kernel.ask_for_launch(queue, make_question(queue, kernel, space));
}

wire::CheckLaunch make_question(const Queue& queue, const Kernel& kernel, const IndexSpace& space) {
  return {.queue = queue.id(),
          .kernel = kernel.id(),
          .dimensions = space.dimensions,
          .has_local_size = space.local != nullptr,
          .has_global_offset = space.offset != nullptr,
          .has_global_size = space.global != nullptr,
          .global_offset = extent(space.dimensions, space.offset, 0),
          .global_size = extent(space.dimensions, space.global, 1),
          .local_size = extent(space.dimensions, space.local, 1)};
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
