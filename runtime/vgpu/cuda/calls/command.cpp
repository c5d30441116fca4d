// Commands that never reach the driver: markers, barriers, the program's own work on the host.
#include "runtime/vgpu/cuda/handlers.hpp"
#include "runtime/vgpu/cuda/stream_order.hpp"

namespace fairgv::vgpu::cuda {

Result<void> Handlers::enqueue(Stream& stream, const NodePtr& node, const wire::Command& command) {
  auto queued = executor_.enqueue_after(node, command.completion, command.wait_list, order_of(stream));
  if (queued) stream.last = node;
  return queued;
}

Result<void> Handlers::enqueue_marker(Work work, const wire::Command& command) {
  FAIRGV_TRY(found, stream(command.queue));
  Stream& stream = *found.value();
  return enqueue(stream, std::make_shared<Node>(work, stream.lane), command);
}

/// The driver begins with every command at once.
Result<void> Handlers::handle(const wire::FlushQueue& call) {
  const auto found = stream(call.queue);
  return found ? Result<void>() : found.error();
}

Result<void> Handlers::handle(const wire::EnqueueMarker& call) {
  return enqueue_marker(Work::marker, call.command);
}

Result<void> Handlers::handle(const wire::EnqueueBarrier& call) {
  return enqueue_marker(Work::barrier, call.command);
}

Result<void> Handlers::handle(const wire::EnqueueHostWork& call) {
  FAIRGV_TRY(found, stream(call.command.queue));
  const auto node = std::make_shared<Node>(Work::access, found.value()->lane);
  node->program_ends = true;
  return enqueue(*found.value(), node, call.command);
}

}  // namespace fairgv::vgpu::cuda
