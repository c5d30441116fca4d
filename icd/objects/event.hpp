// An event: the completion slot of a command or of a user event, and the application's queries about it.
#pragma once

#include <atomic>
#include <cstdint>

#include "icd/objects/context.hpp"
#include "icd/objects/info.hpp"
#include "icd/objects/object.hpp"
#include "icd/objects/queue.hpp"

namespace fairgv::icd {

class Event : public Object<Event> {
 public:
  using Handle = cl_event;
  static constexpr Kind kKind = Kind::event;
  static constexpr bool kSurvivesFork = false;

  // Makers return an empty Ref when no completion slot is free (CL_OUT_OF_RESOURCES).

  /// The event of a command.
  static Ref<Event> make_command(Queue& queue, cl_command_type type);
  /// A command's event that the application never sees; it keeps nothing alive.
  static Ref<Event> make_internal(Connection& connection);
  /// A user event, in the state CL_SUBMITTED.
  static Ref<Event> make_user(Context& context);

  Event(Connection& connection, wire::EventId id, Ref<Context> context, Ref<Queue> queue,
        cl_command_type type)
      : connection_(connection),
        id_(id),
        context_(std::move(context)),
        queue_(std::move(queue)),
        type_(type) {}
  ~Event();

  Connection& connection() const { return connection_; }
  wire::EventId id() const { return id_; }
  /// Null for internal events.
  Context* context() const { return context_.get(); }
  /// The queue of a command whose event the application sees, else null.
  const Queue* queue() const { return queue_.get(); }
  bool is_user() const { return type_ == CL_COMMAND_USER; }

  /// CL_QUEUED … CL_COMPLETE or a negative error. At CL_COMPLETE the results of reads are in place.
  std::int32_t status() const { return connection_.status(id_); }
  /// `as`: the call that waits, for traces (wire/call_names.hpp).
  std::int32_t wait(std::uint32_t as = wire::kOwnCall) const { return connection_.wait(id_, as); }

  /// clSetUserEventStatus, for a user event.
  cl_int set_user_status(std::int32_t status);

  /// For a command that was sent in parts: the part that began first, for profiling.
  void set_first_part(Ref<Event> first) { first_part_ = std::move(first); }

  /// clGetEventInfo and clGetEventProfilingInfo.
  cl_int info(cl_event_info param, InfoSink sink) const;
  cl_int profiling_info(cl_profiling_info param, InfoSink sink) const;

 private:
  Connection& connection_;
  const wire::EventId id_;
  const Ref<Context> context_;
  const Ref<Queue> queue_;
  const cl_command_type type_;
  Ref<Event> first_part_;
  std::atomic<bool> user_status_set_{false};
};

}  // namespace fairgv::icd
