// Virtual memory management: physical memory is charged before it is made.
#include <fmt/core.h>

#include "runtime/vgpu/cuda/handlers.hpp"

namespace fairgv::vgpu::cuda {

/// Null: the program may not use it.
Result<const Device*> Handlers::device_at(std::uint32_t ordinal) const {
  if (ordinal >= driver_.devices().size()) return Error{fmt::format("no device {}", ordinal)};
  const std::vector<const Device*> usable = devices();
  return ordinal < usable.size() ? usable[ordinal] : nullptr;
}

Result<wire::cuda::GranularityReply> Handlers::handle(const wire::cuda::GetGranularity& call) {
  FAIRGV_TRY(device, device_at(call.ordinal));
  if (device.value() == nullptr) return wire::cuda::GranularityReply{CUDA_ERROR_DEVICE_UNAVAILABLE};
  if (!ranges_.is_served()) return wire::cuda::GranularityReply{CUDA_ERROR_NOT_SUPPORTED};
  const CUmemAllocationProp properties = properties_of(*device.value());
  std::size_t bytes = 0;
  const CUresult code = functions().cuMemGetAllocationGranularity(
      &bytes, &properties, static_cast<CUmemAllocationGranularity_flags>(call.which));
  return wire::cuda::GranularityReply{code, bytes};
}

Result<wire::cuda::RangeReply> Handlers::handle(const wire::cuda::ReserveRange& call) {
  if (!ranges_.is_served()) return wire::cuda::RangeReply{CUDA_ERROR_NOT_SUPPORTED};
  wire::cuda::RangeReply reply;
  reply.code = ranges_.reserve(call.bytes, call.alignment, call.address, reply.address);
  return reply;
}

Result<wire::cuda::CodeReply> Handlers::handle(const wire::cuda::FreeRange& call) {
  if (!ranges_.is_served()) return wire::cuda::CodeReply{CUDA_ERROR_NOT_SUPPORTED};
  return wire::cuda::CodeReply{ranges_.free(call.address, call.bytes)};
}

Result<wire::cuda::PhysicalReply> Handlers::handle(const wire::cuda::CreatePhysical& call) {
  FAIRGV_TRY(device, device_at(call.ordinal));
  if (device.value() == nullptr) return wire::cuda::PhysicalReply{CUDA_ERROR_DEVICE_UNAVAILABLE};
  if (!ranges_.is_served()) return wire::cuda::PhysicalReply{CUDA_ERROR_NOT_SUPPORTED};
  FAIRGV_TRY(charged, charge(*device.value(), call.bytes));
  if (!charged.value()) return wire::cuda::PhysicalReply{CUDA_ERROR_OUT_OF_MEMORY};
  wire::cuda::PhysicalReply reply;
  reply.code = ranges_.create(*device.value(), call.bytes, std::move(*charged.value()), reply.number);
  return reply;
}

Result<void> Handlers::handle(const wire::cuda::ReleasePhysical& call) {
  if (!ranges_.release(call.number)) return Error{fmt::format("no physical memory {}", call.number)};
  return {};
}

Result<wire::cuda::CodeReply> Handlers::handle(const wire::cuda::MapPhysical& call) {
  if (!ranges_.contains(call.number)) return Error{fmt::format("no physical memory {}", call.number)};
  return wire::cuda::CodeReply{ranges_.map(call.number, call.address, call.bytes)};
}

Result<wire::cuda::CodeReply> Handlers::handle(const wire::cuda::UnmapRange& call) {
  if (!ranges_.is_served()) return wire::cuda::CodeReply{CUDA_ERROR_NOT_SUPPORTED};
  return wire::cuda::CodeReply{ranges_.unmap(call.address, call.bytes)};
}

Result<wire::cuda::CodeReply> Handlers::handle(const wire::cuda::SetAccess& call) {
  FAIRGV_TRY(device, device_at(call.ordinal));
  if (device.value() == nullptr) return wire::cuda::CodeReply{CUDA_ERROR_DEVICE_UNAVAILABLE};
  if (!ranges_.is_served()) return wire::cuda::CodeReply{CUDA_ERROR_NOT_SUPPORTED};
  return wire::cuda::CodeReply{ranges_.set_access(call.address, call.bytes, *device.value(), call.flags)};
}

}  // namespace fairgv::vgpu::cuda
