// The worker that takes a session over: waits for the daemon's orders, makes the session of its image, and
// begins to serve when the worker before it has come to rest for good.
#pragma once

#include <cstdint>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/move/orders.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/vgpu/backend/dispatch.hpp"
#include "runtime/vgpu/executor/executor.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"

namespace fairgv::vgpu {

struct TakeOver {
  session::MakeAgain order;
  UniqueFd file;
};

/// Waits for the order to make the session, or what there is of it while the worker before this one serves
/// it. An Error if the daemon says anything else. Ends the process if it hangs up.
Result<TakeOver> wait_for_take_over(const Socket& daemon);

/// Makes the session by this order and those that follow, says so each time, and waits for the order to go
/// on. The number of the next call. An Error, as one line, if the session cannot go on here: then nothing of
/// it may be used. `memory`: the session's, or null.
Result<std::uint64_t> take_over(TakeOver from, const Socket& daemon, const ring::Segment& segment,
                                session::Api api, Executor& executor, CallHandler& calls,
                                MemoryAccount* memory);

}  // namespace fairgv::vgpu
