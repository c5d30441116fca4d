// Entry points: markers, marks and barriers.
#include <string_view>

#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/session/command.hpp"

namespace fairgv::icd {
namespace {

template <class Call>
cl_int enqueue_sync(cl_command_queue command_queue, cl_command_type type, cl_uint wait_count,
                    const cl_event* waits, cl_event* event) {
  Queue* const queue = downcast<Queue>(command_queue);
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  const WaitList wait_list(queue->context(), wait_count, waits);
  if (const cl_int error = wait_list.error()) return error;
  Call call;
  return enqueue(*queue, call, wait_list, type, event);
}

}  // namespace

cl_int clEnqueueMarkerWithWaitList(cl_command_queue command_queue, cl_uint num_events_in_wait_list,
                                   const cl_event* event_wait_list, cl_event* event) {
  return entry([&] {
    return enqueue_sync<wire::EnqueueMarker>(command_queue, CL_COMMAND_MARKER, num_events_in_wait_list,
                                             event_wait_list, event);
  });
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue command_queue, cl_uint num_events_in_wait_list,
                                    const cl_event* event_wait_list, cl_event* event) {
  return entry([&] {
    return enqueue_sync<wire::EnqueueBarrier>(command_queue, CL_COMMAND_BARRIER, num_events_in_wait_list,
                                              event_wait_list, event);
  });
}

cl_int clEnqueueMarker(cl_command_queue command_queue, cl_event* event) {
  return entry([&]() -> cl_int {
    if (downcast<Queue>(command_queue) == nullptr) return CL_INVALID_COMMAND_QUEUE;
    if (event == nullptr) return CL_INVALID_VALUE;
    return enqueue_sync<wire::EnqueueMarker>(command_queue, CL_COMMAND_MARKER, 0, nullptr, event);
  });
}

cl_int clEnqueueBarrier(cl_command_queue command_queue) {
  return entry([&] {
    return enqueue_sync<wire::EnqueueBarrier>(command_queue, CL_COMMAND_BARRIER, 0, nullptr, nullptr);
  });
}

cl_int clEnqueueMarkFAIRGV(cl_command_queue command_queue, const char* label) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    const std::string_view text = label != nullptr ? label : "";
    if (text.size() > wire::kLongestLabel) return CL_INVALID_VALUE;
    wire::EnqueueMark call{{}, text};
    return send_command(*queue, call, {}, nullptr);
  });
}

cl_int clEnqueueWaitForEvents(cl_command_queue command_queue, cl_uint num_events,
                              const cl_event* event_list) {
  return entry([&]() -> cl_int {
    if (downcast<Queue>(command_queue) == nullptr) return CL_INVALID_COMMAND_QUEUE;
    if (num_events == 0 || event_list == nullptr) return CL_INVALID_VALUE;
    const cl_int error = enqueue_sync<wire::EnqueueBarrier>(command_queue, CL_COMMAND_BARRIER, num_events,
                                                            event_list, nullptr);
    return error == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : error;
  });
}

}  // namespace fairgv::icd
