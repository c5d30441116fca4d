// Connects to a daemon that can be trusted: every client and tool of FairGV reaches the daemon this way.
//
// A daemon gets a program's buffers and code, so another user's process in its place would have them. A
// connection is made only if the socket lies where nobody but trusted users (trusted_users.hpp) can have put
// it, and the kernel says that the process that listens is one of theirs (SO_PEERCRED). Nothing is sent
// before.
#pragma once

#include <string>

#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/session/trust/trusted_path.hpp"
#include "runtime/session/trust/trusted_users.hpp"

namespace fairgv::session {

/// An Error is one line: what, where, what to do. `code`, if given, receives errno on failure; EPERM where an
/// untrusted user listens, or may listen. Any thread.
Result<Socket> connect_to_daemon(const std::string& path, int* code = nullptr);

/// A client's error for a doubt about the daemon's socket, with advice.
Error refusal_of(const PathDoubt& doubt, const std::string& socket, const TrustedUsers& users);

}  // namespace fairgv::session
