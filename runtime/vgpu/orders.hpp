// The orders that the daemon gives a worker while it serves.
#pragma once

#include "runtime/base/socket.hpp"
#include "runtime/vgpu/backend/dispatch.hpp"
#include "runtime/vgpu/worker.hpp"

namespace fairgv::vgpu {

/// Obeys from now on; the process ends when the daemon hangs up. All three live as long as the process.
void obey(const Socket& daemon, Worker& worker, CallHandler& calls);

}  // namespace fairgv::vgpu
