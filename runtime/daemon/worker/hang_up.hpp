// A packet that cannot be sent to a worker: it has hung up, or it does not read.
#pragma once

#include <poll.h>

#include <string>

#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"

namespace fairgv::daemon {

/// Whether the worker has closed its end of the socket: it has ended, or is about to. It may have done no
/// wrong.
inline bool has_hung_up(const Socket& worker) {
  pollfd look{worker.fd(), 0, 0};
  return ::poll(&look, 1, 0) > 0 && (look.revents & POLLHUP) != 0;
}

/// The Error of a packet that was not sent to this worker, `who` in words.
inline Error unheard(const Socket& worker, const std::string& who) {
  return Error{who + (has_hung_up(worker) ? " has ended" : " does not listen")};
}

}  // namespace fairgv::daemon
