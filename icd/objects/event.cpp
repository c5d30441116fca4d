#include "icd/objects/event.hpp"

namespace fairgv::icd {
namespace {

Ref<Event> make(Connection& connection, Ref<Context> context, Ref<Queue> queue, cl_command_type type) {
  const wire::EventId id = connection.session().events().acquire();
  if (!id) return {};
  try {
    return Ref<Event>::make(connection, id, std::move(context), std::move(queue), type);
  } catch (...) {
    connection.session().events().release(id);
    throw;
  }
}

}  // namespace

Ref<Event> Event::make_command(Queue& queue, cl_command_type type) {
  if (queue.connection().session().backlogged()) return {};
  return make(queue.connection(), Ref<Context>(queue.context()), Ref<Queue>(queue), type);
}

Ref<Event> Event::make_internal(Connection& connection) {
  return make(connection, {}, {}, 0);
}

Ref<Event> Event::make_user(Context& context) {
  Connection& connection = context.connection();
  Ref<Event> event = make(connection, Ref<Context>(context), {}, CL_COMMAND_USER);
  if (!event) return event;
  connection.session().events().set(event->id(), CL_SUBMITTED);
  connection.send(wire::CreateUserEvent{event->id()});
  connection.user_event_opened();
  return event;
}

Event::~Event() {
  if (is_user() && !user_status_set_.load(std::memory_order_acquire)) connection_.user_event_closed();
  connection_.session().release_event(id_);
}

cl_int Event::set_user_status(std::int32_t status) {
  if (user_status_set_.exchange(true, std::memory_order_acq_rel)) return CL_INVALID_OPERATION;
  const bool sent = connection_.send(wire::SetUserEventStatus{id_, status});
  connection_.session().events().set(id_, status);
  connection_.user_event_closed();
  return sent ? CL_SUCCESS : kSessionLost;
}

cl_int Event::info(cl_event_info param, InfoSink sink) const {
  switch (param) {
    case CL_EVENT_COMMAND_QUEUE:
      return sink.scalar(queue_ ? queue_->handle() : nullptr);
    case CL_EVENT_CONTEXT:
      return sink.scalar(context_ ? context_->handle() : nullptr);
    case CL_EVENT_COMMAND_TYPE:
      return sink.scalar(type_);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
      return sink.scalar(cl_int{status()});
    case CL_EVENT_REFERENCE_COUNT:
      return sink.scalar(cl_uint{references()});
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int Event::profiling_info(cl_profiling_info param, InfoSink sink) const {
  if (!queue_ || !queue_->has_profiling() || status() != CL_COMPLETE) return CL_PROFILING_INFO_NOT_AVAILABLE;
  const wire::CommandTimes last = connection_.session().events().times(id_);
  const wire::CommandTimes first =
      first_part_ ? connection_.session().events().times(first_part_->id()) : last;
  switch (param) {
    case CL_PROFILING_COMMAND_QUEUED:
      return sink.scalar(cl_ulong{first.queued});
    case CL_PROFILING_COMMAND_SUBMIT:
      return sink.scalar(cl_ulong{first.submitted});
    case CL_PROFILING_COMMAND_START:
      return sink.scalar(cl_ulong{first.started});
    case CL_PROFILING_COMMAND_END:
      return sink.scalar(cl_ulong{last.ended});
    case CL_PROFILING_COMMAND_COMPLETE:
      return sink.scalar(cl_ulong{last.completed});
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace fairgv::icd
