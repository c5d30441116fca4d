// The worker that leaves: writes its session down.
#pragma once

#include <cstdint>

#include "runtime/base/result.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/vgpu/backend/dispatch.hpp"
#include "runtime/vgpu/executor/loop.hpp"
#include "runtime/vgpu/move/copies_ahead.hpp"

namespace fairgv::vgpu {

/// An Error, as one line, if the session cannot be moved.
Result<void> may_move(CallHandler& calls);

/// Writes the image of a session that may be moved and is at rest to the file, without what was copied
/// `ahead` (closed), and changes nothing. The image's bytes, or an Error as one line. `next_number`: of
/// calls.
Result<std::uint64_t> write_image(int file, session::Api api, CallHandler& calls, const Executor::Loop& loop,
                                  std::uint64_t next_number, const CopiesAhead& ahead);

}  // namespace fairgv::vgpu
