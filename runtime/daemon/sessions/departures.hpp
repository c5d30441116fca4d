// The end of sessions: what it says of their tenants' conduct, and what is given back and forgotten when
// nothing of their workers is left.
//
// Used by the server's thread only. What it is given outlives it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"

namespace fairgv::daemon {

class Departures {
 public:
  Departures(DispatchLoop& dispatch, Tenancies& tenancies, UserLog& log)
      : dispatch_(dispatch), tenancies_(tenancies), log_(log) {}

  /// Who looks at sessions once more, before the memory of each goes.
  void call_before_removal(std::function<void(Session&)> call) { before_removal_ = std::move(call); }

  /// Notes a session that somebody or something ends before its program does.
  static void note_kill(Sessions& sessions, const Session& session, const std::string& reason);
  /// The worker is killed now, and the session can be removed when nothing of it is left: only then is the
  /// device free for the next. Nothing happens to one that ends already.
  void begin(Sessions& sessions, Session& session, const std::string& reason,
             std::optional<Fault> fault) const;
  /// Its worker has ended, and may have left processes, which may use the device as long as they live.
  /// Removes the session when they are gone; else it is to be looked at again (Session::clear_at).
  void go_on(Sessions& sessions, Session& session);

 private:
  void judge(const Session& session, std::optional<Fault> fault) const;
  void remove(Sessions& sessions, Session& session);

  DispatchLoop& dispatch_;
  Tenancies& tenancies_;
  UserLog& log_;
  std::function<void(Session&)> before_removal_ = [](Session&) {};
};

}  // namespace fairgv::daemon
