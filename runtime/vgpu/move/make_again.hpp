// The worker that takes over: makes a session of its image.
#pragma once

#include <cstdint>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/session/move/orders.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/vgpu/backend/dispatch.hpp"
#include "runtime/vgpu/executor/loop.hpp"

namespace fairgv::vgpu {

/// Makes everything again, in a back end that has handled no call. Nothing is handed to a driver as a command
/// but contents. The number of the next call; an Error, as one line, if the session cannot go on here.
Result<std::uint64_t> make_again(const UniqueFd& file, const session::MakeAgain& order, session::Api api,
                                 CallHandler& calls, Executor::Loop& loop, Replies& replies);

}  // namespace fairgv::vgpu
