// Commands that the front end carries out by itself in this process. They take their place among the commands
// of a queue, but run nothing in the worker.
#pragma once

#include <functional>

#include "icd/transfer/transfer_commands.hpp"

namespace fairgv::icd {

/// Enqueues `work`, which runs once, when all its dependencies have ended; not at all if an event of the wait
/// list has failed. A blocking command runs it on the calling thread, any other on the session's callback
/// thread, where application callbacks run too. Returns the result of the entry point.
cl_int enqueue_host_work(const TransferRequest& request, std::function<void()> work);

}  // namespace fairgv::icd
