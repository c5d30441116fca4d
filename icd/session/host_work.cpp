#include "icd/session/host_work.hpp"

namespace fairgv::icd {
namespace {

/// Tells the worker that granted work is done.
bool end_work(Connection& connection, wire::EventId event) {
  if (!connection.send(wire::EndAccess{event})) return false;
  connection.session().events().set(event, CL_COMPLETE);
  return true;
}

cl_int work_here(const TransferRequest& request, const Event& event, const std::function<void()>& work) {
  Connection& connection = request.queue.connection();
  const std::int32_t granted = connection.session().wait_for_grant(event.id(), request.type);
  connection.settle();  // the data of earlier reads must be in place
  if (granted != CL_RUNNING)
    return blocking_result(request.queue, request.wait_list, event.wait(request.type));
  work();
  return end_work(connection, event.id()) ? CL_SUCCESS : kSessionLost;
}

}  // namespace

cl_int enqueue_host_work(const TransferRequest& request, std::function<void()> work) {
  Connection& connection = request.queue.connection();
  const Ref<Event> event = request.event != nullptr ? Event::make_command(request.queue, request.type)
                                                    : Event::make_internal(connection);
  if (!event) return CL_OUT_OF_RESOURCES;
  wire::EnqueueHostWork call;
  cl_int error = send_command(request.queue, call, request.wait_list.ids(), event.get());
  if (error != CL_SUCCESS) return error;
  if (request.blocking) {
    error = work_here(request, *event, work);
  } else {
    session::HostWork& open = connection.session().host_work();
    open.begins();
    // The callback holds the event until it has returned.
    const bool added = connection.callbacks().add(
        *event, CL_RUNNING, [&connection, id = event->id(), work = std::move(work)](std::int32_t status) {
          if (status == CL_RUNNING) {
            work();
            end_work(connection, id);
          }
          connection.session().host_work().ended();
        });
    if (!added) open.ended();
    if (!added) error = CL_OUT_OF_RESOURCES;
  }
  if (error == CL_SUCCESS && request.event != nullptr) *request.event = event.publish();
  return error;
}

}  // namespace fairgv::icd
