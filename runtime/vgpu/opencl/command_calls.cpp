// Commands: looked up, checked, and given to the executor with what it takes to hand them to the driver.
#include <fmt/core.h>

#include <limits>

#include "runtime/vgpu/opencl/backend.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// x * y * z, or the largest number if that is beyond 64 bits.
std::uint64_t volume(const wire::Extent3& extent) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(extent.x, extent.y, &bytes) || __builtin_mul_overflow(bytes, extent.z, &bytes)) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return bytes;
}

constexpr std::array<std::size_t, 3> kHostOrigin{0, 0, 0};

}  // namespace

Result<std::byte*> Backend::arena(wire::ArenaRange range, std::uint64_t needed) const {
  const auto arena = segment_.arena();
  if (range.offset > arena.size() || range.bytes > arena.size() - range.offset || needed > range.bytes) {
    return Error{fmt::format("{} bytes at {}, of which {} are used, do not lie in the arena of {}",
                             range.bytes, range.offset, needed, arena.size())};
  }
  return arena.data() + range.offset;
}

Result<std::shared_ptr<Kernel>> Backend::launched(const wire::EnqueueKernel& call) {
  auto kernel = objects_.get<Kernel>(call.kernel);
  if (!kernel) return kernel.error();
  if (call.dimensions < 1 || call.dimensions > 3) {
    return Error{fmt::format("a launch in {} dimensions", call.dimensions)};
  }
  // A poisoned kernel's arguments do not matter.
  if (!call.updates.empty() && kernel.value()->error == CL_SUCCESS) {
    auto arguments = updated(*kernel.value()->arguments, call.updates, call.values,
                             kernel.value()->argument_count, {objects_, segment_.arena()});
    if (!arguments) return arguments.error();
    kernel.value()->arguments = std::move(arguments).value();
  }
  return kernel;
}

Result<void> Backend::handle(const wire::EnqueueKernel& call) {
  auto queue = objects_.get<Queue>(call.command.queue);
  if (!queue) return queue.error();
  auto kernel = launched(call);
  if (!kernel) return kernel.error();
  return executor_.enqueue(
      std::make_shared<Launch>(std::move(queue).value(), std::move(kernel).value(), Launch::range_of(call)),
      call.command.completion, call.command.wait_list);
}

Result<void> Backend::handle(const wire::EnqueueReadBuffer& call) {
  const auto buffer = objects_.get<Buffer>(call.buffer);
  if (!buffer) return buffer.error();
  const auto host = arena(call.to, call.to.bytes);
  if (!host) return host.error();
  return transfer(
      call.command,
      [from = buffer.value(), offset = call.offset, bytes = call.to.bytes, to = host.value()](
          cl_command_queue queue, const Waits& waits) {
        return clEnqueueReadBuffer(queue, from->handle.get(), CL_FALSE, offset, bytes, to, waits.count,
                                   waits.list, waits.event);
      },
      buffer.value());
}

Result<void> Backend::handle(const wire::EnqueueWriteBuffer& call) {
  const auto buffer = objects_.get<Buffer>(call.buffer);
  if (!buffer) return buffer.error();
  const auto host = arena(call.from, call.from.bytes);
  if (!host) return host.error();
  return transfer(
      call.command,
      [to = buffer.value(), offset = call.offset, bytes = call.from.bytes, from = host.value()](
          cl_command_queue queue, const Waits& waits) {
        return clEnqueueWriteBuffer(queue, to->handle.get(), CL_FALSE, offset, bytes, from, waits.count,
                                    waits.list, waits.event);
      },
      buffer.value());
}

Result<void> Backend::handle(const wire::EnqueueReadBufferRect& call) {
  const auto buffer = objects_.get<Buffer>(call.buffer);
  if (!buffer) return buffer.error();
  const auto host = arena(call.to, volume(call.region));
  if (!host) return host.error();
  return transfer(
      call.command,
      [from = buffer.value(), origin = sizes(call.origin), region = sizes(call.region),
       row_pitch = call.row_pitch, slice_pitch = call.slice_pitch,
       to = host.value()](cl_command_queue queue, const Waits& waits) {
        return clEnqueueReadBufferRect(queue, from->handle.get(), CL_FALSE, origin.data(), kHostOrigin.data(),
                                       region.data(), row_pitch, slice_pitch, region[0],
                                       region[0] * region[1], to, waits.count, waits.list, waits.event);
      },
      buffer.value());
}

Result<void> Backend::handle(const wire::EnqueueWriteBufferRect& call) {
  const auto buffer = objects_.get<Buffer>(call.buffer);
  if (!buffer) return buffer.error();
  const auto host = arena(call.from, volume(call.region));
  if (!host) return host.error();
  return transfer(
      call.command,
      [to = buffer.value(), origin = sizes(call.origin), region = sizes(call.region),
       row_pitch = call.row_pitch, slice_pitch = call.slice_pitch,
       from = host.value()](cl_command_queue queue, const Waits& waits) {
        return clEnqueueWriteBufferRect(queue, to->handle.get(), CL_FALSE, origin.data(), kHostOrigin.data(),
                                        region.data(), row_pitch, slice_pitch, region[0],
                                        region[0] * region[1], from, waits.count, waits.list, waits.event);
      },
      buffer.value());
}

Result<void> Backend::handle(const wire::EnqueueCopyBuffer& call) {
  const auto source = objects_.get<Buffer>(call.source);
  if (!source) return source.error();
  const auto destination = objects_.get<Buffer>(call.destination);
  if (!destination) return destination.error();
  return transfer(
      call.command,
      [from = source.value(), to = destination.value(), source_offset = call.source_offset,
       destination_offset = call.destination_offset,
       bytes = call.bytes](cl_command_queue queue, const Waits& waits) {
        return clEnqueueCopyBuffer(queue, from->handle.get(), to->handle.get(), source_offset,
                                   destination_offset, bytes, waits.count, waits.list, waits.event);
      },
      source.value(), destination.value());
}

Result<void> Backend::handle(const wire::EnqueueCopyBufferRect& call) {
  const auto source = objects_.get<Buffer>(call.source);
  if (!source) return source.error();
  const auto destination = objects_.get<Buffer>(call.destination);
  if (!destination) return destination.error();
  return transfer(
      call.command,
      [from = source.value(), to = destination.value(), source_origin = sizes(call.source_origin),
       destination_origin = sizes(call.destination_origin), region = sizes(call.region),
       source_row_pitch = call.source_row_pitch, source_slice_pitch = call.source_slice_pitch,
       destination_row_pitch = call.destination_row_pitch,
       destination_slice_pitch = call.destination_slice_pitch](cl_command_queue queue, const Waits& waits) {
        return clEnqueueCopyBufferRect(queue, from->handle.get(), to->handle.get(), source_origin.data(),
                                       destination_origin.data(), region.data(), source_row_pitch,
                                       source_slice_pitch, destination_row_pitch, destination_slice_pitch,
                                       waits.count, waits.list, waits.event);
      },
      source.value(), destination.value());
}

Result<void> Backend::handle(const wire::EnqueueFillBuffer& call) {
  const auto buffer = objects_.get<Buffer>(call.buffer);
  if (!buffer) return buffer.error();
  return transfer(
      call.command,
      [to = buffer.value(), pattern = std::vector<std::byte>(call.pattern.begin(), call.pattern.end()),
       offset = call.offset, bytes = call.bytes](cl_command_queue queue, const Waits& waits) {
        return clEnqueueFillBuffer(queue, to->handle.get(), pattern.data(), pattern.size(), offset, bytes,
                                   waits.count, waits.list, waits.event);
      },
      buffer.value());
}

Result<void> Backend::handle(const wire::EnqueueMarker& call) {
  return marker(Work::marker, call.command);
}

Result<void> Backend::handle(const wire::EnqueueBarrier& call) {
  return marker(Work::barrier, call.command);
}

Result<void> Backend::handle(const wire::EnqueueNothing& call) {
  return marker(Work::nothing, call.command);
}

Result<void> Backend::handle(const wire::EnqueueAccess& call) {
  const auto queue = objects_.get<Queue>(call.command.queue);
  if (!queue) return queue.error();
  const auto buffer = objects_.get<Buffer>(call.buffer);
  if (!buffer) return buffer.error();
  if (!call.command.completion) return Error{"an access that nobody could end"};
  return executor_.enqueue_marker(Work::access, queue.value()->lane,
                                  first_error(*queue.value(), *buffer.value()), call.command.completion,
                                  call.command.wait_list);
}

Result<void> Backend::handle(const wire::EnqueueHostWork& call) {
  if (!call.command.completion) return Error{"host work that nobody could end"};
  return marker(Work::access, call.command);
}

Result<void> Backend::marker(Work work, const wire::Command& command) {
  const auto queue = objects_.get<Queue>(command.queue);
  if (!queue) return queue.error();
  return executor_.enqueue_marker(work, queue.value()->lane, queue.value()->error, command.completion,
                                  command.wait_list);
}

}  // namespace fairgv::vgpu::opencl
