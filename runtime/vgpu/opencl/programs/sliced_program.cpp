#include "runtime/vgpu/opencl/programs/sliced_program.hpp"

#include <algorithm>
#include <vector>

#include "runtime/vgpu/opencl/objects.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// Whether the driver reports variables that outlive a launch: the rewritten program would have variables of
/// its own.
bool has_global_variables(cl_program program) {
  cl_uint count = 0;
  clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr);
  std::vector<cl_device_id> devices(count);
  clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof(cl_device_id), devices.data(), nullptr);
  return std::any_of(devices.begin(), devices.end(), [program](cl_device_id device) {
    std::size_t bytes = 0;
    const cl_int error = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
                                               sizeof(bytes), &bytes, nullptr);
    return error == CL_SUCCESS && bytes != 0;
  });
}

}  // namespace

void SlicedProgram::prepare(std::uint32_t dimensions, std::shared_ptr<const Program> original) {
  Variant& variant = variants_.at(dimensions - 1);
  if (variant.readiness.load(std::memory_order_relaxed) != Readiness::unprepared) return;
  variant.readiness.store(Readiness::in_preparation, std::memory_order_relaxed);
  run_later_([self = shared_from_this(), dimensions, original = std::move(original)] {
    self->make(dimensions, *original);
  });
}

void SlicedProgram::make(std::uint32_t dimensions, const Program& original) {
  Variant& variant = variants_.at(dimensions - 1);
  if (const auto why = why_not_sliceable(*recipe_)) {
    variant.why_not = *why;
  } else if (has_global_variables(original.handle.get())) {
    variant.why_not = "its program has variables in global memory";
  } else {
    variant.handle = make_sliceable(*recipe_, context_->handle.get(), dimensions);
    if (!variant.handle) variant.why_not = "its rewritten program does not build";
  }
  variant.readiness.store(variant.handle ? Readiness::ready : Readiness::impossible,
                          std::memory_order_release);
}

}  // namespace fairgv::vgpu::opencl
