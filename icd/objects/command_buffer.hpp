// A command buffer (cl_khr_command_buffer 0.9): commands recorded once and run again and again.
//
// The worker records into the driver's own command buffer, so a replay is one message and one command,
// whatever was recorded. The front end itself answers for the state, the sync points (numbered from 1 in the
// order of recording), the queues, and the errors of arguments. Kernel arguments keep their values from the
// moment of recording.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "icd/objects/object.hpp"
#include "icd/objects/queue.hpp"
#include "icd/session/command.hpp"

namespace fairgv::icd {

/// The sync points that a recorded command waits for, and the place for its own, as the application gives
/// them.
struct SyncPoints {
  cl_uint count = 0;
  const cl_sync_point_khr* waits = nullptr;
  cl_sync_point_khr* own = nullptr;  // may be null
};

class CommandBuffer : public Object<CommandBuffer> {
 public:
  using Handle = cl_command_buffer_khr;
  static constexpr Kind kKind = Kind::command_buffer;
  static constexpr bool kSurvivesFork = false;

  /// In the state "recording". `properties`: as the application gave them, with the final 0, or empty.
  CommandBuffer(Queue& queue, cl_command_buffer_flags_khr flags,
                std::vector<cl_command_buffer_properties_khr> properties);
  ~CommandBuffer();

  /// The queue for which it was created.
  Queue& queue() const { return *queue_; }
  Context& context() const { return queue_->context(); }
  wire::ObjectId id() const { return id_; }

  /// Records a command: fills `call.recording` and sends it. CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
  /// CL_INVALID_OPERATION if the buffer is no longer recording, the driver's error for calls with a reply, or
  /// kSessionLost.
  template <class Call>
  cl_int record(Call& call, const SyncPoints& points) {
    const std::lock_guard lock(mutex_);
    if (const cl_int error = check_recording(points)) return error;
    call.recording = {id_, std::span(points.waits, points.count)};
    if (const cl_int error = send(call)) return error;
    recorded_ += 1;
    if (points.own != nullptr) *points.own = recorded_;
    return CL_SUCCESS;
  }

  /// clFinalizeCommandBufferKHR: the driver's answer about everything recorded.
  cl_int finalize();

  /// clEnqueueCommandBufferKHR on a queue that is compatible with queue(). CL_INVALID_OPERATION if the buffer
  /// is not executable, or is still at work and not made for simultaneous use.
  cl_int replay(Queue& queue, const WaitList& wait_list, cl_event* event);

  /// clGetCommandBufferInfoKHR.
  cl_int info(cl_command_buffer_info_khr param, InfoSink sink);

 private:
  template <class Call>
  cl_int send(const Call& call) {
    if constexpr (std::is_void_v<typename Call::Reply>) {
      return queue_->connection().send(call) ? CL_SUCCESS : kSessionLost;
    } else {
      const auto reply = queue_->connection().call(call);
      return reply ? reply->error : kSessionLost;
    }
  }

  // All with mutex_ held.
  cl_int check_recording(const SyncPoints& points) const;
  void forget_ended_replays();
  cl_command_buffer_state_khr state();

  const Ref<Queue> queue_;
  const wire::ObjectId id_;
  const cl_command_buffer_flags_khr flags_;
  const std::vector<cl_command_buffer_properties_khr> properties_;

  std::mutex mutex_;  // guards the members below
  std::uint32_t recorded_ = 0;
  bool executable_ = false;
  std::vector<Ref<Event>> replays_;  // replays that may not have ended
  std::size_t sweep_at_ = 16;        // length of replays_ at which ended ones are looked for
};

}  // namespace fairgv::icd
