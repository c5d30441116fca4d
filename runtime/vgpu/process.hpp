// The worker as a process: closed to others, and dependent on the daemon.
#pragma once

#include <functional>

#include "runtime/base/socket.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"

namespace fairgv::vgpu {

/// Without core dumps, no helper of the system's is given one either (core(5): a pipe ignores the limit), and
/// nobody of the same user can trace this process.
void close_memory_to_others();

/// A worker without a daemon has no work, and nothing would end it: from now on the process ends when the
/// daemon hangs up on this socket. Until then `on_order` is called with each of its packets, on a thread of
/// its own, for as long as the process lives.
void listen_to_daemon(int daemon_fd, std::function<void(Packet)> on_order);

/// The daemon's ledger as the memory account asks it. An answer is waited for as long as the daemon lives;
/// without one the process ends. The socket outlives the returned function.
MemoryAccount::Ledger ask_daemon(const Socket& ledger);

}  // namespace fairgv::vgpu
