#include "icd/session/command.hpp"

#include <algorithm>

namespace fairgv::icd {

WaitList::WaitList(const Context& context, cl_uint count, const cl_event* events) {
  if ((count == 0) != (events == nullptr)) {
    error_ = CL_INVALID_EVENT_WAIT_LIST;
    return;
  }
  if (count == 0) return;
  std::span<wire::EventId> ids(few_.data(), std::min<std::size_t>(count, few_.size()));
  if (count > few_.size()) {
    many_.resize(count);
    ids = many_;
  }
  error_ = fill(context, events, ids);
  ids_ = ids;
}

cl_int WaitList::fill(const Context& context, const cl_event* events, std::span<wire::EventId> to) {
  for (wire::EventId& id : to) {
    const Event* const event = downcast<Event>(*events++);
    // A released handle may by now lead to an internal event, which may be gone before the command is sent.
    if (event == nullptr || event->references() == 0) return CL_INVALID_EVENT_WAIT_LIST;
    if (event->context() != &context) return CL_INVALID_CONTEXT;
    id = event->id();
  }
  return CL_SUCCESS;
}

bool WaitList::has_failed_event(Connection& connection) const {
  return std::any_of(ids_.begin(), ids_.end(), [&](wire::EventId id) {
    return connection.session().events().status(id) < CL_COMPLETE;
  });
}

cl_int blocking_result(Queue& queue, const WaitList& wait_list, std::int32_t status) {
  if (status == CL_COMPLETE) return CL_SUCCESS;
  if (wait_list.has_failed_event(queue.connection())) return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  return queue.connection().session().lost() ? kSessionLost : status;
}

}  // namespace fairgv::icd
