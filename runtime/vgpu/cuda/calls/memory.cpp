// Memory: linear, pinned, arrays; charged before it is made.
#include <fmt/core.h>

#include <algorithm>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/handlers.hpp"
#include "runtime/wire/calls/cuda/facts.hpp"

namespace fairgv::vgpu::cuda {
namespace {

/// Takes a place in its stream and frees memory when the loop thread destroys it.
class FreeNode final : public Node {
 public:
  FreeNode(std::shared_ptr<Lane> lane, std::shared_ptr<Allocations> allocations, std::uint64_t address)
      : Node(Work::marker, std::move(lane)), allocations_(std::move(allocations)), address_(address) {
    allocations_->expect(address_);
  }
  ~FreeNode() override { allocations_->free_in_order(address_); }

 private:
  const std::shared_ptr<Allocations> allocations_;
  const std::uint64_t address_;
};

/// Of all elements of an array; the largest number if it does not fit 64 bits.
std::uint64_t array_bytes(const wire::cuda::CreateArray& call) {
  const std::uint64_t channel = wire::cuda::channel_bytes(static_cast<CUarray_format>(call.format));
  std::uint64_t bytes = std::max<std::uint64_t>(channel, 1) * call.channels;
  for (const std::uint64_t extent : {call.width, call.height, call.depth}) {
    if (__builtin_mul_overflow(bytes, std::max<std::uint64_t>(extent, 1), &bytes)) return UINT64_MAX;
  }
  return bytes;
}

}  // namespace

Result<std::optional<MemoryCharge>> Handlers::charge(const Device& device, std::uint64_t bytes) {
  if (settings_.memory == nullptr) return std::optional<MemoryCharge>(MemoryCharge());
  MemoryAccount& memory = *settings_.memory;
  const std::uint64_t bit = std::uint64_t{1} << device.facts.device;
  const std::uint64_t released = memory.released();
  auto charged = memory.charge(bit, bytes, false);
  if (!charged || charged.value()) return charged;
  // Frees that have ended may only have to be looked at to be done.
  loop().pump();
  return memory.released() != released ? memory.charge(bit, bytes, false) : std::move(charged);
}

Result<wire::cuda::AllocationReply> Handlers::handle(const wire::cuda::AllocateMemory& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  wire::cuda::AllocationReply reply{CUDA_ERROR_OUT_OF_MEMORY};
  std::uint64_t bytes = call.bytes;
  if (call.rows != 0 && __builtin_mul_overflow(call.bytes, call.rows, &bytes)) return reply;
  FAIRGV_TRY(charged, charge(*context.value(), bytes));
  if (!charged.value()) return reply;
  CUdeviceptr address = 0;
  std::size_t pitch = call.bytes;
  CUresult code = use(functions(), context.value()->handle);
  if (code == CUDA_SUCCESS) {
    code = call.rows == 0
               ? functions().cuMemAlloc(&address, call.bytes)
               : functions().cuMemAllocPitch(&address, &pitch, call.bytes, call.rows, call.element_bytes);
  }
  reply = {code, address, pitch};
  if (code != CUDA_SUCCESS) return reply;
  allocations_->add(address, context.value(), std::move(*charged.value()));
  return reply;
}

Result<void> Handlers::handle(const wire::cuda::FreeMemory& call) {
  if (!allocations_->contains(call.address)) return Error{fmt::format("no memory at {:#x}", call.address)};
  allocations_->free(call.address);
  return {};
}

Result<void> Handlers::handle(const wire::cuda::EnqueueFreeMemory& call) {
  FAIRGV_TRY(found, stream(call.command.queue));
  Stream& stream = *found.value();
  executor_.note_release();
  return enqueue(stream, std::make_shared<FreeNode>(stream.lane, allocations_, call.address), call.command);
}

Result<wire::cuda::SettledReply> Handlers::handle(const wire::cuda::SettleFrees&) {
  loop().pump();
  // Memory is given back by a message to the daemon, which has read it by the time it answers the next one.
  if (settings_.memory != nullptr) settings_.memory->least_left(1);
  return wire::cuda::SettledReply{allocations_->freed_in_order()};
}

Result<wire::cuda::MemoryInfoReply> Handlers::handle(const wire::cuda::GetMemoryInfo& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  loop().pump();  // memory freed by commands that have ended is free
  std::size_t free = 0;
  std::size_t total = 0;
  CUresult code = use(functions(), context.value()->handle);
  if (code == CUDA_SUCCESS) code = functions().cuMemGetInfo(&free, &total);
  wire::cuda::MemoryInfoReply reply{code, free, total};
  if (settings_.memory == nullptr) return reply;
  FAIRGV_TRY(left, settings_.memory->left(context.value()->device.facts.device));
  reply.free = std::min(reply.free, left.value());
  return reply;
}

Result<wire::cuda::AllocationReply> Handlers::handle(const wire::cuda::PinArena& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  FAIRGV_TRY(host, arena(call.range.offset, call.range.bytes));
  const bool is_pages = call.range.offset % kPageBytes == 0 && call.range.bytes % kPageBytes == 0;
  if (!is_pages || call.range.bytes == 0 || pinned_.contains(call.range.offset)) {
    return Error{fmt::format("{} bytes at {} cannot be pinned", call.range.bytes, call.range.offset)};
  }
  wire::cuda::AllocationReply reply;
  CUresult code = use(functions(), context.value()->handle);
  if (code == CUDA_SUCCESS) {
    code = functions().cuMemHostRegister(host.value(), call.range.bytes,
                                         CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  }
  if (code == CUDA_SUCCESS) {
    CUdeviceptr address = 0;
    code = functions().cuMemHostGetDevicePointer(&address, host.value(), 0);
    if (code != CUDA_SUCCESS) functions().cuMemHostUnregister(host.value());
    reply.address = address;
  }
  reply.code = code;
  if (code == CUDA_SUCCESS) pinned_[call.range.offset] = context.value();
  return reply;
}

Result<void> Handlers::handle(const wire::cuda::UnpinArena& call) {
  const auto found = pinned_.find(call.offset);
  if (found == pinned_.end()) return Error{fmt::format("nothing is pinned at {}", call.offset)};
  if (use(functions(), found->second->handle) == CUDA_SUCCESS) {
    functions().cuMemHostUnregister(segment_.arena().data() + call.offset);
  }
  pinned_.erase(found);
  return {};
}

Result<wire::cuda::CodeReply> Handlers::handle(const wire::cuda::CreateArray& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  FAIRGV_TRY(charged, charge(*context.value(), array_bytes(call)));
  if (!charged.value()) return wire::cuda::CodeReply{CUDA_ERROR_OUT_OF_MEMORY};
  auto array = std::make_shared<Array>();
  array->context = std::move(context).value();
  array->charge = std::move(*charged.value());
  CUDA_ARRAY3D_DESCRIPTOR description{};
  description.Width = call.width;
  description.Height = call.height;
  description.Depth = call.depth;
  description.Format = static_cast<CUarray_format>(call.format);
  description.NumChannels = call.channels;
  description.Flags = call.flags;
  CUresult code = use(functions(), array->context->handle);
  if (code == CUDA_SUCCESS) code = functions().cuArray3DCreate(&array->handle, &description);
  if (code != CUDA_SUCCESS) {
    array->handle = nullptr;
    return wire::cuda::CodeReply{code};
  }
  FAIRGV_CHECK(objects_.insert(call.id, std::move(array)));
  return wire::cuda::CodeReply{};
}

}  // namespace fairgv::vgpu::cuda
