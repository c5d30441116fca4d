// Entry points: command buffers (cl_khr_command_buffer) as a whole.
#include "icd/objects/command_buffer.hpp"
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/objects/properties.hpp"

namespace fairgv::icd {
namespace {

/// Whether the devices' own limits allow a command buffer for that queue with those flags.
cl_int check_capabilities(Queue& queue, cl_command_buffer_flags_khr flags) {
  const auto number = [&](cl_device_info param, std::uint64_t& value) -> cl_int {
    return queue.device().info(param, {sizeof(value), &value, nullptr});
  };
  cl_device_command_buffer_capabilities_khr capabilities = 0;
  cl_command_queue_properties required = 0;
  if (const cl_int error = number(CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR, capabilities)) return error;
  if (const cl_int error = number(CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR, required)) {
    return error;
  }
  const bool out_of_order = (queue.properties() & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
  if (out_of_order && (capabilities & CL_COMMAND_BUFFER_CAPABILITY_OUT_OF_ORDER_KHR) == 0)
    return CL_INCOMPATIBLE_COMMAND_QUEUE_KHR;
  if ((queue.properties() & required) != required) return CL_INCOMPATIBLE_COMMAND_QUEUE_KHR;
  const bool simultaneous = (flags & CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR) != 0;
  if (simultaneous && (capabilities & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) == 0)
    return CL_INVALID_PROPERTY;
  return CL_SUCCESS;
}

}  // namespace

cl_command_buffer_khr clCreateCommandBufferKHR(cl_uint num_queues, const cl_command_queue* queues,
                                               const cl_command_buffer_properties_khr* properties,
                                               cl_int* errcode_ret) {
  return create_entry<cl_command_buffer_khr>(errcode_ret, [&]() -> Outcome<cl_command_buffer_khr> {
    if (num_queues != 1 || queues == nullptr) return CL_INVALID_VALUE;
    Queue* const queue = downcast<Queue>(queues[0]);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    cl_command_buffer_flags_khr flags = 0;
    std::vector<cl_command_buffer_properties_khr> list;
    const cl_int error = read_properties(properties, CL_INVALID_VALUE, list, [&](auto name, auto value) {
      if (name != CL_COMMAND_BUFFER_FLAGS_KHR) return CL_INVALID_VALUE;
      flags = value;
      return (flags & ~cl_bitfield{CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR}) == 0 ? CL_SUCCESS
                                                                                 : CL_INVALID_VALUE;
    });
    if (error != CL_SUCCESS) return error;
    if (const cl_int lacking = check_capabilities(*queue, flags)) return lacking;
    return Ref<CommandBuffer>::make(*queue, flags, std::move(list)).publish();
  });
}

cl_int clRetainCommandBufferKHR(cl_command_buffer_khr command_buffer) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (buffer == nullptr) return CL_INVALID_COMMAND_BUFFER_KHR;
    buffer->retain();
    return CL_SUCCESS;
  });
}

cl_int clReleaseCommandBufferKHR(cl_command_buffer_khr command_buffer) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    return buffer != nullptr && buffer->release() ? CL_SUCCESS : CL_INVALID_COMMAND_BUFFER_KHR;
  });
}

cl_int clFinalizeCommandBufferKHR(cl_command_buffer_khr command_buffer) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    return buffer == nullptr ? CL_INVALID_COMMAND_BUFFER_KHR : buffer->finalize();
  });
}

cl_int clEnqueueCommandBufferKHR(cl_uint num_queues, cl_command_queue* queues,
                                 cl_command_buffer_khr command_buffer, cl_uint num_events_in_wait_list,
                                 const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (buffer == nullptr) return CL_INVALID_COMMAND_BUFFER_KHR;
    if (num_queues > 1 || (num_queues == 0) != (queues == nullptr)) return CL_INVALID_VALUE;
    Queue* const queue = num_queues == 0 ? &buffer->queue() : downcast<Queue>(queues[0]);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    if (&queue->context() != &buffer->context()) return CL_INVALID_CONTEXT;
    const bool compatible =
        &queue->device() == &buffer->queue().device() && queue->properties() == buffer->queue().properties();
    if (!compatible) return CL_INCOMPATIBLE_COMMAND_QUEUE_KHR;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    return buffer->replay(*queue, wait_list, event);
  });
}

cl_int clGetCommandBufferInfoKHR(cl_command_buffer_khr command_buffer, cl_command_buffer_info_khr param_name,
                                 size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    CommandBuffer* const buffer = downcast<CommandBuffer>(command_buffer);
    if (buffer == nullptr) return CL_INVALID_COMMAND_BUFFER_KHR;
    return buffer->info(param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

}  // namespace fairgv::icd
