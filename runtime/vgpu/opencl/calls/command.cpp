// Launches, and commands that never reach the driver.
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "runtime/session/service_unit.hpp"
#include "runtime/vgpu/graph/mark.hpp"
#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// The program's own access to a buffer, which it keeps.
class Access final : public Node {
 public:
  Access(std::shared_ptr<Lane> lane, cl_int error, std::shared_ptr<const Buffer> buffer)
      : Node(Work::access, std::move(lane), error), buffer_(std::move(buffer)) {}

 private:
  std::shared_ptr<const Buffer> buffer_;
};

}  // namespace

Result<std::shared_ptr<Kernel>> Handlers::launched(const wire::EnqueueKernel& call) {
  FAIRGV_TRY(kernel, objects_.get<Kernel>(call.kernel));
  if (call.dimensions < 1 || call.dimensions > 3) {
    return Error{fmt::format("a launch in {} dimensions", call.dimensions)};
  }
  // A poisoned kernel's arguments do not matter. A command that is made again finds its own
  // (Handlers::put()).
  if (!call.updates.empty() && !loop().restores() && kernel.value()->error == CL_SUCCESS) {
    FAIRGV_TRY(arguments, updated(*kernel.value()->arguments, call.updates, call.values,
                                  kernel.value()->takes, {objects_, segment_.arena()}));
    kernel.value()->arguments = std::move(arguments).value();
  }
  return kernel;
}

Result<void> Handlers::handle(const wire::EnqueueKernel& call) {
  FAIRGV_TRY(queue, objects_.get<Queue>(call.command.queue));
  FAIRGV_TRY(kernel, launched(call));
  auto arguments = kernel.value()->arguments;
  return executor_.enqueue(std::make_shared<Launch>(std::move(queue).value(), std::move(kernel).value(),
                                                    std::move(arguments), Launch::range_of(call)),
                           call.command.completion, call.command.wait_list);
}

Result<void> Handlers::handle(const wire::EnqueueMarker& call) {
  return marker(Work::marker, call.command);
}

Result<void> Handlers::handle(const wire::EnqueueBarrier& call) {
  return marker(Work::barrier, call.command);
}

Result<void> Handlers::handle(const wire::EnqueueMark& call) {
  FAIRGV_TRY(queue, objects_.get<Queue>(call.command.queue));
  if (call.label.size() > wire::kLongestLabel) return Error{"a mark with a label that is too long"};
  const cl_int error = queue.value()->error;
  return executor_.enqueue_after(
      std::make_shared<Mark>(lane_of(std::move(queue).value()), error,
                             session::number_of(session::ServiceUnit::Kind::marks, call.label)),
      call.command.completion, call.command.wait_list, {});
}

Result<void> Handlers::handle(const wire::EnqueueNothing& call) {
  return marker(Work::nothing, call.command);
}

Result<void> Handlers::handle(const wire::EnqueueAccess& call) {
  FAIRGV_TRY(queue, objects_.get<Queue>(call.command.queue));
  FAIRGV_TRY(buffer, objects_.get<Buffer>(call.buffer));
  if (!call.command.completion) return Error{"an access that nobody could end"};
  const cl_int error = first_error(*queue.value(), *buffer.value());
  return executor_.enqueue_after(
      std::make_shared<Access>(lane_of(std::move(queue).value()), error, std::move(buffer).value()),
      call.command.completion, call.command.wait_list, {});
}

Result<void> Handlers::handle(const wire::EnqueueHostWork& call) {
  if (!call.command.completion) return Error{"host work that nobody could end"};
  FAIRGV_TRY(queue, objects_.get<Queue>(call.command.queue));
  const cl_int error = queue.value()->error;
  const auto node = std::make_shared<Node>(Work::access, lane_of(std::move(queue).value()), error);
  node->program_ends = true;
  return executor_.enqueue_after(node, call.command.completion, call.command.wait_list, {});
}

Result<void> Handlers::marker(Work work, const wire::Command& command) {
  FAIRGV_TRY(queue, objects_.get<Queue>(command.queue));
  const cl_int error = queue.value()->error;
  return executor_.enqueue_marker(work, lane_of(std::move(queue).value()), error, command.completion,
                                  command.wait_list);
}

}  // namespace fairgv::vgpu::opencl
