// The frame of entry points whose command needs nothing of the host's memory. They differ only in their
// checks and in the fields of their call.
#pragma once

#include "icd/api/entry.hpp"
#include "icd/session/command.hpp"

namespace fairgv::icd {

/// The arguments of every clEnqueue* function besides its command.
struct EnqueueArguments {
  cl_command_queue queue;
  cl_uint wait_count;
  const cl_event* waits;
  cl_event* event;
};

/// Has `make(queue, call)` check the command and fill the call, and enqueues it.
template <class Call, class Make>
cl_int enqueue_entry(const EnqueueArguments& arguments, cl_command_type type, Make&& make) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(arguments.queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    Call call;
    if (const cl_int error = make(*queue, call)) return error;
    const WaitList wait_list(queue->context(), arguments.wait_count, arguments.waits);
    if (const cl_int error = wait_list.error()) return error;
    return enqueue(*queue, call, wait_list, type, arguments.event);
  });
}

}  // namespace fairgv::icd
