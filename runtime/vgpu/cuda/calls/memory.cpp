// Memory: linear and pinned; charged before it is made.
#include <fmt/core.h>

#include <algorithm>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/handlers.hpp"

namespace fairgv::vgpu::cuda {
namespace {

/// Takes a place in its stream and frees memory when the loop thread destroys it.
class FreeNode final : public Node {
 public:
  FreeNode(std::shared_ptr<Lane> lane, std::shared_ptr<Allocations> allocations, std::uint64_t address)
      : Node(Work::marker, std::move(lane)), allocations_(std::move(allocations)), address_(address) {
    allocations_->expect(*this, address_);
  }
  ~FreeNode() override { allocations_->free_in_order(*this, address_); }

 private:
  const std::shared_ptr<Allocations> allocations_;
  const std::uint64_t address_;
};

}  // namespace

Result<std::optional<MemoryCharge>> Handlers::charge(const Device& device, std::uint64_t bytes) {
  if (settings_.memory == nullptr) return std::optional<MemoryCharge>(MemoryCharge());
  MemoryAccount& memory = *settings_.memory;
  const std::uint64_t bit = std::uint64_t{1} << device.facts.device;
  const std::uint64_t released = memory.released();
  auto charged = memory.charge(bit, bytes, false);
  if (!charged || charged.value() || loop().is_restoring()) return charged;
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
  const std::uint64_t reserved = call.rows == 0 ? call.bytes : pitch * call.rows;
  allocations_->add(address, {context.value(), reserved, bytes, std::move(*charged.value())});
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
  if (code == CUDA_SUCCESS) pinned_[call.range.offset] = {context.value(), call.range.bytes, reply.address};
  return reply;
}

Result<void> Handlers::handle(const wire::cuda::UnpinArena& call) {
  const auto found = pinned_.find(call.offset);
  if (found == pinned_.end()) return Error{fmt::format("nothing is pinned at {}", call.offset)};
  if (use(functions(), found->second.context->handle) == CUDA_SUCCESS) {
    functions().cuMemHostUnregister(segment_.arena().data() + call.offset);
  }
  pinned_.erase(found);
  return {};
}

}  // namespace fairgv::vgpu::cuda
