// Memory that sessions share.
#include <fmt/core.h>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/handlers.hpp"

namespace fairgv::vgpu::cuda {

Result<wire::cuda::ExportReply> Handlers::handle(const wire::cuda::ExportMemory& call) {
  const auto context = allocations_->context_of(call.address);
  if (!context) return Error{fmt::format("no memory at {:#x}", call.address)};
  wire::cuda::ExportReply reply{use(functions(), context->handle), {}};
  if (reply.code == CUDA_SUCCESS) reply.code = allocations_->lent().lend(call.address, reply.handle);
  return reply;
}

Result<wire::cuda::OpenedReply> Handlers::handle(const wire::cuda::OpenMemory& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  LentMemory& lent = allocations_->lent();
  wire::cuda::OpenedReply reply;
  reply.code = lent.borrowed() < settings_.object_limit ? use(functions(), context.value()->handle)
                                                        : CUDA_ERROR_OUT_OF_MEMORY;
  if (reply.code == CUDA_SUCCESS)
    reply.code = lent.borrow(context.value(), call.handle, reply.address, reply.bytes);
  return reply;
}

Result<void> Handlers::handle(const wire::cuda::CloseMemory& call) {
  if (allocations_->lent().give_back(call.address)) return {};
  return Error{fmt::format("no opened memory at {:#x}", call.address)};
}

}  // namespace fairgv::vgpu::cuda
