#include "icd/objects/queue.hpp"

#include "icd/objects/event.hpp"

namespace fairgv::icd {

Queue::Queue(Context& context, Device& device, cl_command_queue_properties properties,
             std::vector<cl_queue_properties> property_list)
    : context_(context),
      device_(device),
      id_(context.session().new_object()),
      properties_(properties),
      property_list_(std::move(property_list)) {
  connection().send(wire::CreateQueue{id_, context.id(), device.index(), properties});
}

Queue::~Queue() {
  context_->session().release_object(id_);
}

cl_int Queue::flush() {
  const std::uint64_t sent = commands();
  // Relaxed: a thread that sees an old value only sends one flush too many.
  if (flushed_.load(std::memory_order_relaxed) == sent) return CL_SUCCESS;
  if (!connection().send(wire::FlushQueue{id_})) return kSessionLost;
  flushed_.store(sent, std::memory_order_relaxed);
  return CL_SUCCESS;
}

cl_int Queue::finish() {
  const std::uint64_t sent = commands();
  if (finished_.load(std::memory_order_acquire) >= sent) {
    connection().settle();
    connection().callbacks().await_called(*this);
    return CL_SUCCESS;
  }
  const Ref<Event> marker = Event::make_internal(connection());
  if (!marker) return CL_OUT_OF_RESOURCES;
  wire::EnqueueMarker call;
  call.command = {id_, marker->id(), {}};
  if (!connection().send(call)) return kSessionLost;
  if (marker->wait(wire::kFinish) < CL_COMPLETE) return kSessionLost;
  note_finished(sent);
  connection().callbacks().await_called(*this);
  return CL_SUCCESS;
}

void Queue::note_finished(std::uint64_t count) {
  std::uint64_t before = finished_.load(std::memory_order_relaxed);
  while (before < count && !finished_.compare_exchange_weak(before, count, std::memory_order_acq_rel)) {
  }
}

cl_int Queue::info(cl_command_queue_info param, InfoSink sink) {
  switch (param) {
    case CL_QUEUE_CONTEXT:
      return sink.scalar(context_->handle());
    case CL_QUEUE_DEVICE:
      return sink.scalar(device_->handle());
    case CL_QUEUE_REFERENCE_COUNT:
      return sink.scalar(cl_uint{references()});
    case CL_QUEUE_PROPERTIES:
      return sink.scalar(properties_);
    case CL_QUEUE_PROPERTIES_ARRAY:
      return sink.array(std::span<const cl_queue_properties>(property_list_));
    case CL_QUEUE_DEVICE_DEFAULT:
      return sink.scalar(cl_command_queue{nullptr});
    case CL_QUEUE_SIZE:
      return CL_INVALID_COMMAND_QUEUE;  // only for queues on the device
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace fairgv::icd
