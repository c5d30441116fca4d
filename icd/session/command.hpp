// The last two steps of every enqueue: checking the wait list, and sending the command with the event that
// the application asked for.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "icd/objects/event.hpp"
#include "icd/objects/queue.hpp"
#include "icd/session/connection.hpp"

namespace fairgv::icd {

/// A wait list as ids. Short lists take no memory from the heap.
class WaitList {
 public:
  /// Checks the list for a command of `context` (OpenCL 3.0, 5: CL_INVALID_EVENT_WAIT_LIST,
  /// CL_INVALID_CONTEXT); error() has the result.
  WaitList(const Context& context, cl_uint count, const cl_event* events);
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  cl_int error() const { return error_; }
  std::span<const wire::EventId> ids() const { return ids_; }

  /// Whether one of the events has failed by now.
  bool has_failed_event(Connection& connection) const;

 private:
  cl_int fill(const Context& context, const cl_event* events, std::span<wire::EventId> to);

  cl_int error_ = CL_SUCCESS;
  std::array<wire::EventId, 8> few_;
  std::vector<wire::EventId> many_;
  std::span<const wire::EventId> ids_;
};

/// Sends `call` as a command of the queue; `completion` is null when nobody waits for it. kSessionLost if the
/// session is lost; CL_OUT_OF_RESOURCES if the session has reached its limit of commands (with an event, that
/// was refused before).
template <class Call>
cl_int send_command(Queue& queue, Call& call, std::span<const wire::EventId> wait_list,
                    const Event* completion) {
  if (completion == nullptr && queue.connection().session().backlogged()) return CL_OUT_OF_RESOURCES;
  call.command = {queue.id(), completion != nullptr ? completion->id() : wire::EventId{}, wait_list};
  if (!queue.connection().send(call)) return kSessionLost;
  queue.count_command();
  return CL_SUCCESS;
}

/// Sends `call` and gives the application its event, if it wants one.
template <class Call>
cl_int enqueue(Queue& queue, Call& call, const WaitList& wait_list, cl_command_type type, cl_event* event) {
  Ref<Event> completion;
  if (event != nullptr) {
    completion = Event::make_command(queue, type);
    if (!completion) return CL_OUT_OF_RESOURCES;
  }
  const cl_int error = send_command(queue, call, wait_list.ids(), completion.get());
  if (error != CL_SUCCESS) return error;
  if (event != nullptr) *event = completion.publish();
  return CL_SUCCESS;
}

/// In an entry point: a call that waits for the device, if `waits`. It counts, when it returns, as one call
/// of the program (session/service_unit.hpp), however often it has waited.
class WaitingCall {
 public:
  explicit WaitingCall(Connection& connection, bool waits = true)
      : connection_(waits ? &connection : nullptr) {}
  ~WaitingCall() {
    if (connection_ != nullptr) connection_->count_call();
  }
  WaitingCall(const WaitingCall&) = delete;
  WaitingCall& operator=(const WaitingCall&) = delete;

 private:
  Connection* const connection_;
};

/// The result of a blocking call whose command ended with `status`.
cl_int blocking_result(Queue& queue, const WaitList& wait_list, std::int32_t status);

}  // namespace fairgv::icd
