#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {

Result<void> Handlers::handle_call(Executor::Loop& loop, Replies& replies, wire::Opcode opcode,
                                   std::span<const std::byte> bytes, std::uint64_t tag) {
  return dispatch(*this, loop, replies, opcode, bytes, tag);
}

// Commands are only handed over: the specification lets callbacks enqueue commands that do not block.
bool Handlers::is_brief(wire::Opcode opcode) const {
  switch (opcode) {
    case wire::EnqueueKernel::opcode:
    case wire::SetKernelArguments::opcode:
    case wire::EnqueueMarker::opcode:
    case wire::EnqueueBarrier::opcode:
    case wire::EnqueueNothing::opcode:
    case wire::EnqueueReadBuffer::opcode:
    case wire::EnqueueWriteBuffer::opcode:
    case wire::EnqueueCopyBuffer::opcode:
    case wire::EnqueueFillBuffer::opcode:
    case wire::FlushQueue::opcode:
    case wire::ReleaseEvent::opcode:
      return true;
    default:
      return false;
  }
}

}  // namespace fairgv::vgpu::opencl
