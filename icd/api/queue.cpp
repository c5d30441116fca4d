// Entry points: command queues.
#include "icd/objects/queue.hpp"
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/objects/properties.hpp"
#include "icd/session/command.hpp"

namespace fairgv::icd {
namespace {

constexpr cl_command_queue_properties kHostQueueProperties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
constexpr cl_command_queue_properties kKnownProperties =
    kHostQueueProperties | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

/// `in_a_list`: how the properties were given.
Outcome<cl_command_queue> make_queue(cl_context context, cl_device_id device,
                                     cl_command_queue_properties properties,
                                     std::vector<cl_queue_properties> property_list, bool in_a_list) {
  Context* const owner = downcast<Context>(context);
  if (owner == nullptr) return CL_INVALID_CONTEXT;
  Device* const target = downcast<Device>(device);
  if (target == nullptr || !owner->has_device(*target)) return CL_INVALID_DEVICE;
  if ((properties & ~kKnownProperties) != 0) return CL_INVALID_VALUE;
  const DeviceFacts* const facts = target->facts();
  if (facts == nullptr || owner->session().lost()) return kSessionLost;
  if ((properties & ~kHostQueueProperties) != 0) return CL_INVALID_QUEUE_PROPERTIES;
  if ((properties & ~facts->queue_properties) != 0) {
    const auto reply = owner->connection().call(
        wire::CheckQueue{owner->id(), target->index(), properties, std::uint8_t{in_a_list}});
    if (!reply) return kSessionLost;
    if (reply->error != CL_SUCCESS) return reply->error;
  }
  return Ref<Queue>::make(*owner, *target, properties, std::move(property_list)).publish();
}

}  // namespace

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int* errcode_ret) {
  return create_entry<cl_command_queue>(errcode_ret,
                                        [&] { return make_queue(context, device, properties, {}, false); });
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties* properties,
                                                    cl_int* errcode_ret) {
  return create_entry<cl_command_queue>(errcode_ret, [&]() -> Outcome<cl_command_queue> {
    if (downcast<Context>(context) == nullptr) return CL_INVALID_CONTEXT;
    cl_command_queue_properties bits = 0;
    std::vector<cl_queue_properties> list;
    const cl_int error = read_properties(properties, CL_INVALID_VALUE, list,
                                         [&](cl_queue_properties name, cl_queue_properties value) -> cl_int {
                                           if (name == CL_QUEUE_PROPERTIES) bits = value;
                                           // CL_QUEUE_SIZE is for queues on the device, of which there are
                                           // none.
                                           if (name == CL_QUEUE_SIZE) return CL_INVALID_QUEUE_PROPERTIES;
                                           return name == CL_QUEUE_PROPERTIES ? CL_SUCCESS : CL_INVALID_VALUE;
                                         });
    if (error != CL_SUCCESS) return error;
    return make_queue(context, device, bits, std::move(list), true);
  });
}

cl_int clRetainCommandQueue(cl_command_queue command_queue) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    queue->retain();
    return CL_SUCCESS;
  });
}

cl_int clReleaseCommandQueue(cl_command_queue command_queue) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    return queue != nullptr && queue->release() ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
  });
}

cl_int clGetCommandQueueInfo(cl_command_queue command_queue, cl_command_queue_info param_name,
                             size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    return queue->info(param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

// Deprecated since OpenCL 1.1, which allows this answer.
cl_int clSetCommandQueueProperty(cl_command_queue command_queue, cl_command_queue_properties, cl_bool,
                                 cl_command_queue_properties*) {
  return downcast<Queue>(command_queue) == nullptr ? CL_INVALID_COMMAND_QUEUE : CL_INVALID_OPERATION;
}

// No device has on-device queues (CL_DEVICE_MAX_ON_DEVICE_QUEUES is 0).
cl_int clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device, cl_command_queue) {
  if (downcast<Context>(context) == nullptr) return CL_INVALID_CONTEXT;
  return downcast<Device>(device) == nullptr ? CL_INVALID_DEVICE : CL_INVALID_OPERATION;
}

cl_int clFlush(cl_command_queue command_queue) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    return queue == nullptr ? CL_INVALID_COMMAND_QUEUE : queue->flush();
  });
}

cl_int clFinish(cl_command_queue command_queue) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    const WaitingCall counted(queue->connection());
    return queue->finish();
  });
}

}  // namespace fairgv::icd
