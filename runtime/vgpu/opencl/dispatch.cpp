#include "runtime/vgpu/opencl/backend.hpp"

namespace fairgv::vgpu {

template Result<void> dispatch(opencl::Backend&, Replies&, wire::Opcode, std::span<const std::byte>,
                               std::uint64_t);

namespace opencl {

// Commands are only handed over: the specification lets callbacks enqueue what does not block.
bool Backend::is_brief(wire::Opcode opcode) {
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

}  // namespace opencl
}  // namespace fairgv::vgpu
