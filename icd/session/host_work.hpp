// Commands that the front end carries out by itself in this process: they take their place among the commands
// of a queue and use nothing of the worker's.
#pragma once

#include <functional>

#include "icd/transfer/transfer_commands.hpp"

namespace fairgv::icd {

/// Enqueues `work`, which runs once, when all it has to wait for has ended; not at all if one of the events
/// in the wait list has failed. A blocking command runs it on the calling thread, any other on the session's
/// callback thread, where application callbacks run too. What the entry point returns.
cl_int enqueue_host_work(const TransferRequest& request, std::function<void()> work);

}  // namespace fairgv::icd
