// Command buffers: recorded in the driver's own, replayed as one command of a queue.
#include <fmt/core.h>

#include <array>

#include "runtime/vgpu/opencl/command_buffer.hpp"
#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// The error that the driver should report for a launch's groups: PoCL 3.1 reports it and then ends the
/// process, where it should refuse to record.
cl_int group_error(const Launch::Range& range, const Kernel& kernel, cl_device_id device) {
  if (!range.has_local) return CL_SUCCESS;
  const auto ask = [&](cl_kernel_work_group_info what, auto& answer) {
    return clGetKernelWorkGroupInfo(kernel.handle.get(), device, what, sizeof(answer), &answer, nullptr) ==
           CL_SUCCESS;
  };
  std::size_t most = 0;
  std::array<std::size_t, 3> required{};
  cl_bool uneven = CL_FALSE;
  const bool may_be_uneven = clGetDeviceInfo(device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, sizeof(uneven),
                                             &uneven, nullptr) == CL_SUCCESS &&
                             uneven == CL_TRUE;
  const bool has_required = ask(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, required) && required[0] != 0;
  if (!ask(CL_KERNEL_WORK_GROUP_SIZE, most)) return CL_SUCCESS;
  std::size_t items = 1;
  for (std::size_t d = 0; d < range.dimensions; ++d) {
    const bool overflows = __builtin_mul_overflow(items, range.local.at(d), &items);
    const bool is_other = has_required && range.local[d] != required[d];
    const bool is_uneven = !may_be_uneven && range.global[d] % range.local[d] != 0;
    if (overflows || items > most || is_other || is_uneven) return CL_INVALID_WORK_GROUP_SIZE;
  }
  return CL_SUCCESS;
}

/// One run of everything recorded.
class Replay final : public QueueCommand {
 public:
  Replay(std::shared_ptr<Queue> queue, std::shared_ptr<CommandBuffer> buffer)
      : QueueCommand(queue, first_error(*queue, *buffer), reinterpret_cast<std::uintptr_t>(buffer.get())),
        buffer_(std::move(buffer)) {}

  void note_writes(WriteLog& log) const final {
    for (const auto& object : buffer_->uses) log.note(*object);
    for (const auto& set : buffer_->arguments) {
      for (const auto& argument : set->arguments) {
        if (argument && argument->object) log.note(*argument->object);
      }
    }
  }
  bool is_launch() const final { return true; }
  std::string_view name() const final { return "(command buffer)"; }
  std::string_view why_whole() const final { return "it was recorded"; }

 private:
  cl_int enqueue(cl_command_queue queue, const Waits& waits) final {
    return buffer_->driver.enqueue(1, &queue, buffer_->handle, waits.count, waits.list, waits.event);
  }

  std::shared_ptr<CommandBuffer> buffer_;
};

/// A run of everything recorded, command by command: each may stop at a gate of its own before it runs, and
/// others may have the device while the driver makes code.
std::vector<std::shared_ptr<DeviceCommand>> steps_of(const CommandBuffer& buffer,
                                                     const std::shared_ptr<Queue>& queue) {
  std::vector<std::shared_ptr<DeviceCommand>> commands;
  std::shared_ptr<QueueCommand> first;
  for (const auto& step : buffer.steps) {
    auto command = step(queue);
    if (!first) first = command;
    if (&step == &buffer.steps.back() && command != first) command->begins_with(first);
    commands.push_back(std::move(command));
  }
  return commands;
}

/// The front end keeps runs of a buffer apart that must not overlap, but learns of a run's end only from
/// events, so the driver is asked to be as lenient as it can.
cl_command_buffer_flags_khr driver_flags(cl_device_id device, std::uint64_t asked) {
  cl_device_command_buffer_capabilities_khr capabilities = 0;
  const cl_int error = clGetDeviceInfo(device, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR,
                                       sizeof(capabilities), &capabilities, nullptr);
  const bool lenient =
      error == CL_SUCCESS && (capabilities & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) != 0;
  return asked | (lenient ? cl_bitfield{CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR} : 0);
}

Result<wire::StatusReply> status(const Result<cl_int>& outcome) {
  if (!outcome) return outcome.error();
  return wire::StatusReply{outcome.value()};
}

}  // namespace

Result<void> Handlers::handle(const wire::CreateCommandBuffer& call) {
  FAIRGV_TRY(queue, objects_.get<Queue>(call.queue));
  auto buffer = std::make_shared<CommandBuffer>();
  buffer->queue = std::move(queue).value();
  buffer->error = buffer->queue->error;
  if (buffer->error == CL_SUCCESS) {
    const Device& device = buffer->queue->on;
    buffer->driver = CommandBufferFunctions::of(driver_.platforms()[device.platform].id);
    const cl_command_buffer_flags_khr flags = driver_flags(device.id, call.flags);
    const cl_command_buffer_properties_khr properties[] = {CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0};
    const cl_command_queue handle = buffer->queue->handle.get();
    if (!buffer->driver.complete()) {
      buffer->error = CL_INVALID_OPERATION;
    } else {
      buffer->handle = buffer->driver.create(1, &handle, flags != 0 ? properties : nullptr, &buffer->error);
    }
  }
  return objects_.insert(call.id, std::move(buffer));
}

// record() and recorded(): see backend/back_end.hpp.

template <class Record, class... Objects>
Result<cl_int> Handlers::record(const wire::Recording& recording, Record record, const Objects&... objects) {
  FAIRGV_TRY(found, objects_.get<CommandBuffer>(recording.command_buffer));
  CommandBuffer& buffer = *found.value();
  FAIRGV_TRY(waits, buffer.driver_points(recording.wait_list));
  if (buffer.finalized) return Error{"a command for a buffer that was finalized"};

  cl_sync_point_khr own = 0;
  cl_int error = first_error(buffer, *objects...);
  (pin_memory(*objects, buffer.pins, error), ...);
  if (error == CL_SUCCESS) {
    const auto count = static_cast<cl_uint>(waits.value().size());
    error = record(buffer, RecordWaits{count, count != 0 ? waits.value().data() : nullptr, &own});
  }
  if (error == CL_SUCCESS) {
    buffer.points.push_back(own);
    (buffer.uses.push_back(objects), ...);
  }
  return error;
}

Result<void> Handlers::recorded(const wire::Recording& recording, Result<cl_int> outcome) {
  if (!outcome) return outcome.error();
  if (outcome.value() == CL_SUCCESS) return {};
  FAIRGV_TRY(buffer, objects_.get<CommandBuffer>(recording.command_buffer));
  buffer.value()->error = outcome.value();
  buffer.value()->points.push_back(0);
  return {};
}

Result<void> Handlers::handle(const wire::RecordBarrier& call) {
  const auto barrier = [](CommandBuffer& buffer, const RecordWaits& waits) {
    return buffer.driver.barrier(buffer.handle, nullptr, waits.count, waits.list, waits.own, nullptr);
  };
  return recorded(call.recording, record(call.recording, barrier));
}

Result<void> Handlers::handle(const wire::RecordKernel& call) {
  FAIRGV_TRY(kernel, launched(call.command));
  const auto launch = [&](CommandBuffer& buffer, const RecordWaits& waits) {
    const Launch::Range range = Launch::range_of(call.command);
    cl_int error = first_error(*kernel.value()->arguments, range);
    if (error == CL_SUCCESS) {
      error = local_memory_error(*kernel.value(), *kernel.value()->arguments, *buffer.queue);
    }
    if (error == CL_SUCCESS) error = group_error(range, *kernel.value(), buffer.queue->device);
    if (error != CL_SUCCESS) return error;
    error = pin_arguments(*kernel.value()->arguments, buffer.pins);
    if (error != CL_SUCCESS) return error;
    const cl_kernel own = buffer.make_kernel(*kernel.value(), error);
    if (error != CL_SUCCESS) return error;
    error = buffer.driver.kernel(buffer.handle, nullptr, nullptr, own, range.dimensions,
                                 range.has_offset ? range.offset.data() : nullptr, range.global.data(),
                                 range.has_local ? range.local.data() : nullptr, waits.count, waits.list,
                                 waits.own, nullptr);
    if (error != CL_SUCCESS) return error;
    buffer.steps.push_back(
        [launched = kernel.value(), arguments = kernel.value()->arguments, range](const auto& queue) {
          return std::make_shared<Launch>(queue, launched, arguments, range);
        });
    const MadeCode* const code = code_of(*kernel.value(), *buffer.queue, range);
    if (code != nullptr) buffer.code.push_back(code);
    return error;
  };
  return recorded(call.recording, record(call.recording, launch, kernel.value()));
}

template <class Enqueued>
Result<cl_int> Handlers::record_copy(const wire::Recorded<Enqueued>& call) {
  const auto copy = describe(call.command);
  FAIRGV_TRY(objects, find(copy.uses));
  const auto record_with = [&](const auto&... object) -> Result<cl_int> {
    if (!fits(call.command, *object...)) return Error{kBeyondBounds};
    const auto send = [&](CommandBuffer& buffer, const RecordWaits& waits) {
      const cl_int error = copy.send(ToCommandBuffer{buffer, waits}, *object...);
      if (error != CL_SUCCESS) return error;
      const std::uint64_t bytes = size_of(call.command) * element_bytes(*object...);
      buffer.steps.push_back(
          [kind = kind_of(call.command), bytes, how = copy.send, object...](const auto& queue) {
            return make_transfer(queue, kind, bytes, Writes::the_last, how, object...);
          });
      return error;
    };
    return record(call.recording, send, object...);
  };
  return std::apply(record_with, objects.value());
}

Result<void> Handlers::handle(const wire::RecordCopyBuffer& call) {
  return recorded(call.recording, record_copy(call));
}

Result<void> Handlers::handle(const wire::RecordCopyBufferRect& call) {
  return recorded(call.recording, record_copy(call));
}

Result<void> Handlers::handle(const wire::RecordFillBuffer& call) {
  return recorded(call.recording, record_copy(call));
}

// For images the driver's answer is passed on.

Result<wire::StatusReply> Handlers::handle(const wire::RecordCopyImage& call) {
  return status(record_copy(call));
}

Result<wire::StatusReply> Handlers::handle(const wire::RecordCopyImageToBuffer& call) {
  return status(record_copy(call));
}

Result<wire::StatusReply> Handlers::handle(const wire::RecordCopyBufferToImage& call) {
  return status(record_copy(call));
}

Result<wire::StatusReply> Handlers::handle(const wire::RecordFillImage& call) {
  return status(record_copy(call));
}

// ---- running

Result<wire::StatusReply> Handlers::handle(const wire::FinalizeCommandBuffer& call) {
  FAIRGV_TRY(found, objects_.get<CommandBuffer>(call.command_buffer));
  CommandBuffer& buffer = *found.value();
  if (buffer.error != CL_SUCCESS) return wire::StatusReply{buffer.error};
  const cl_int error = buffer.driver.finalize(buffer.handle);
  if (error == CL_SUCCESS) buffer.finalized = true;
  return wire::StatusReply{error};
}

Result<void> Handlers::handle(const wire::EnqueueCommandBuffer& call) {
  FAIRGV_TRY(queue, objects_.get<Queue>(call.command.queue));
  FAIRGV_TRY(buffer, objects_.get<CommandBuffer>(call.command_buffer));
  if (!buffer.value()->finalized) return Error{"a command buffer that was not finalized"};
  const bool same_device = queue.value()->lane->device() == buffer.value()->queue->lane->device();
  if (!same_device || queue.value()->context != buffer.value()->queue->context) {
    return Error{"a command buffer of another device or context"};
  }
  const bool in_steps = loop().restores() ? loop().restored_part() != 0 : buffer.value()->compiles_late();
  if (in_steps) {
    const auto commands = steps_of(*buffer.value(), queue.value());
    FAIRGV_TRY(queued, executor_.enqueue_sequence(commands, call.command.completion, call.command.wait_list));
    if (queued.value()) return {};
  }
  return executor_.enqueue(std::make_shared<Replay>(std::move(queue).value(), std::move(buffer).value()),
                           call.command.completion, call.command.wait_list);
}

}  // namespace fairgv::vgpu::opencl
