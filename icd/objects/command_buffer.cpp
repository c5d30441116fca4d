#include "icd/objects/command_buffer.hpp"

#include <algorithm>

namespace fairgv::icd {

CommandBuffer::CommandBuffer(Queue& queue, cl_command_buffer_flags_khr flags,
                             std::vector<cl_command_buffer_properties_khr> properties)
    : queue_(queue),
      id_(queue.context().session().new_object()),
      flags_(flags),
      properties_(std::move(properties)) {
  queue.connection().send(wire::CreateCommandBuffer{id_, queue.id(), flags});
}

CommandBuffer::~CommandBuffer() {
  context().session().release_object(id_);
}

cl_int CommandBuffer::check_recording(const SyncPoints& points) const {
  if ((points.count == 0) != (points.waits == nullptr)) return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
  const std::span waits(points.waits, points.count);
  const bool known = std::all_of(waits.begin(), waits.end(), [this](cl_sync_point_khr point) {
    return point != 0 && point <= recorded_;
  });
  if (!known) return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
  return executable_ ? CL_INVALID_OPERATION : CL_SUCCESS;
}

cl_int CommandBuffer::finalize() {
  const std::lock_guard lock(mutex_);
  const cl_int error = send(wire::FinalizeCommandBuffer{id_});
  if (error == CL_SUCCESS) executable_ = true;
  return error;
}

cl_int CommandBuffer::replay(Queue& queue, const WaitList& wait_list, cl_event* event) {
  const std::lock_guard lock(mutex_);
  const bool simultaneous = (flags_ & CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR) != 0;
  if (!simultaneous || replays_.size() >= sweep_at_) {
    forget_ended_replays();
    sweep_at_ = std::max<std::size_t>(16, 2 * replays_.size());
  }
  if (!executable_ || (!simultaneous && !replays_.empty())) return CL_INVALID_OPERATION;

  const Ref<Event> completion = Event::make_command(queue, CL_COMMAND_COMMAND_BUFFER_KHR);
  if (!completion) return CL_OUT_OF_RESOURCES;
  replays_.push_back(completion);
  wire::EnqueueCommandBuffer replay{{}, id_};
  wire::EnqueueMarker nothing;
  // Some drivers run a command buffer without commands before its wait list has ended.
  const cl_int error = recorded_ != 0 ? send_command(queue, replay, wait_list.ids(), completion.get())
                                      : send_command(queue, nothing, wait_list.ids(), completion.get());
  if (error != CL_SUCCESS) {
    replays_.pop_back();
    return error;
  }
  if (event != nullptr) *event = completion.publish();
  return CL_SUCCESS;
}

void CommandBuffer::forget_ended_replays() {
  session::ClientSession& session = context().session();
  std::erase_if(replays_, [&](const Ref<Event>& replay) {
    return session.events().status(replay->id()) <= CL_COMPLETE;
  });
}

cl_command_buffer_state_khr CommandBuffer::state() {
  if (!executable_) return CL_COMMAND_BUFFER_STATE_RECORDING_KHR;
  forget_ended_replays();
  return replays_.empty() ? CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR : CL_COMMAND_BUFFER_STATE_PENDING_KHR;
}

cl_int CommandBuffer::info(cl_command_buffer_info_khr param, InfoSink sink) {
  switch (param) {
    case CL_COMMAND_BUFFER_NUM_QUEUES_KHR:
      return sink.scalar(cl_uint{1});
    case CL_COMMAND_BUFFER_QUEUES_KHR:
      return sink.scalar(queue_->handle());
    case CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR:
      return sink.scalar(cl_uint{references()});
    case CL_COMMAND_BUFFER_STATE_KHR: {
      const std::lock_guard lock(mutex_);
      return sink.scalar(state());
    }
    case CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR:
      return sink.array(std::span<const cl_command_buffer_properties_khr>(properties_));
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace fairgv::icd
