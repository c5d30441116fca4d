// The orders that the daemon gives a worker while it serves.
#pragma once

#include "runtime/base/socket.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/vgpu/backend/dispatch.hpp"
#include "runtime/vgpu/issue/failing_devices.hpp"
#include "runtime/vgpu/worker.hpp"

namespace fairgv::vgpu {

/// Obeys from now on; the process ends when the daemon hangs up. They live as long as the process.
void obey(const Socket& daemon, Worker& worker, CallHandler& calls, session::Api api,
          FailingDevices& failing);

}  // namespace fairgv::vgpu
