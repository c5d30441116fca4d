// A session as it goes from one daemon to the next (handover/handover.hpp), and back into a session there.
#pragma once

#include <memory>

#include "runtime/daemon/books/memory_book.hpp"
#include "runtime/daemon/dispatch/dispatch_looks.hpp"
#include "runtime/daemon/handover/handover.hpp"
#include "runtime/daemon/sessions/session.hpp"

namespace fairgv::daemon {

/// The facts about a session that a later daemon needs. Descriptors stay the session's.
HandedSession handed(const Session& session, DispatchLooks& dispatch, const MemoryBook& memory);

/// Makes the session again; the caller adds its tenant and account. Takes the session's descriptors. On an
/// Error its worker is killed.
Result<std::unique_ptr<Session>> session_from(const HandedSession& handed);

}  // namespace fairgv::daemon
