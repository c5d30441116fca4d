// The end of sessions: its effect on their tenants' conduct, and what is given back and forgotten when
// nothing of their workers is left.
//
// Used by the server's thread only. The constructor's arguments outlive it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/oversell/markets.hpp"
#include "runtime/daemon/sessions/placements.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"

namespace fairgv::daemon {

class Departures {
 public:
  /// All outlive it.
  struct Needs {
    DispatchLoop& dispatch;
    Tenancies& tenancies;
    Markets& markets;
    Placements& placements;
    UserLog& log;
  };
  explicit Departures(const Needs& needs) : needs_(needs) {}

  /// Sets a call that looks at each session once more, before its memory goes.
  void call_before_removal(std::function<void(Session&)> call) { before_removal_ = std::move(call); }

  /// Notes a session that a person or the daemon ends before its program does.
  static void note_kill(Sessions& sessions, const Session& session, const std::string& reason);
  /// Kills the worker now. The session can be removed when nothing of the worker is left: only then is the
  /// device free for the next session. Nothing happens to a session that ends already.
  void begin(Sessions& sessions, Session& session, const std::string& reason,
             std::optional<Fault> fault) const;
  /// The session's worker has ended, and may have left processes, which may use the device as long as they
  /// live. Removes the session when they are gone; else the session is to be looked at again
  /// (Session::clear_at).
  void go_on(Sessions& sessions, Session& session);

 private:
  void judge(const Session& session, std::optional<Fault> fault) const;
  void remove(Sessions& sessions, Session& session);

  const Needs needs_;
  std::function<void(Session&)> before_removal_ = [](Session&) {};
};

}  // namespace fairgv::daemon
