// Answers the requests of the `fairgv` command.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/control/answers.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/daemon/adjustments.hpp"
#include "runtime/daemon/foreground.hpp"
#include "runtime/daemon/interventions.hpp"
#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/migrations.hpp"
#include "runtime/daemon/moves/checkpoints.hpp"
#include "runtime/daemon/moves/drains.hpp"
#include "runtime/daemon/reports/daemon_life.hpp"
#include "runtime/daemon/reports/journals.hpp"
#include "runtime/daemon/reports/sources.hpp"
#include "runtime/daemon/reports/usage_keeper.hpp"
#include "runtime/daemon/tenants/entrance.hpp"
#include "runtime/daemon/trace/slot.hpp"

namespace fairgv::daemon {

/// The peer that makes a request.
struct ControlPeer {
  const PeerCredentials& credentials;
  int socket;  // the connection
  Account account;
  std::uint64_t token;  // names the connection, in answers that come later and for what it has begun
};

/// An answer to a request.
struct ControlAnswer {
  ControlAnswer(std::string text_now) : text(std::move(text_now)) {}  // NOLINT: an answer is a text as a rule
  ControlAnswer(std::optional<std::string> text_now, bool awaits)
      : text(std::move(text_now)), awaits_more(awaits) {}

  std::optional<std::string> text;  // none: it comes later, with the peer's token
  std::vector<UniqueFd> files{};    // two, or none
  bool awaits_more = false;         // the peer waits for that, or for the daemon to end
};

class Control {
 public:
  /// The parts of the daemon that carry out requests, and the sources of what is shown. All of them outlive
  /// this.
  struct Needs {
    const Config& config;
    Entrance& entrance;
    Sources sources;
    const DaemonLife& life;
    UsageKeeper& usage;
    UserLog& log;
    Journals& journals;
    Drains& drains;
    Checkpoints& checkpoints;
  };
  /// `socket` is for the report; `reload` reads the configuration again.
  Control(const Needs& needs, Adjustments adjustments, Interventions interventions, Migrations migrations,
          Foreground foreground, std::string socket, std::function<Result<control::ReloadReport>()> reload);

  /// Administrators may do everything: root, the daemon's own user, and users who were in its admin_group
  /// when they connected. Others may look (at the past: at their own tenants'), set their own tenants'
  /// weights within the rules, bring them to the front, and trace, end, pause, resume and move their own
  /// sessions.
  ControlAnswer answer(const std::string& request, const ControlPeer& from);
  /// The connection is gone: what it has begun ends.
  void leave(std::uint64_t token) {
    traces_.leave(token);
    foreground_.leave(token);
    needs_.checkpoints.leave(token);
  }
  /// The session's worker is dead, and its memory is about to go.
  void take_last(Session& session) { traces_.take_last(session); }

  /// When expire() wants to be called.
  std::optional<std::chrono::steady_clock::time_point> deadline() const { return traces_.deadline(); }
  void expire(std::chrono::steady_clock::time_point now) { traces_.expire(now); }

  /// An administrator has asked the daemon to stop.
  bool stop_requested() const { return stop_requested_; }
  /// The same for a restart; asking takes it.
  bool take_restart_request() { return std::exchange(restart_requested_, false); }

 private:
  std::string report() const;
  std::string read_trace(const control::ControlRequest& request, const ControlPeer& by);
  std::string reload(const ControlPeer& by);
  ControlAnswer migrate(const control::ControlRequest& request, const ControlPeer& by);
  ControlAnswer drain(const control::ControlRequest& request, const ControlPeer& by);
  Result<Session*> own_session(SessionId id, const ControlPeer& by, const char* deed) const;
  ControlAnswer checkpoint(const control::ControlRequest& request, const ControlPeer& by);
  ControlAnswer show(SessionId id, const ControlPeer& by);
  std::string whoami(const control::ControlRequest& request, const ControlPeer& peer);

  const Needs needs_;
  Adjustments adjustments_;
  Interventions interventions_;
  Migrations migrations_;
  Foreground foreground_;
  const std::string socket_;
  const std::function<Result<control::ReloadReport>()> reload_;
  TraceSlot traces_;
  const std::chrono::steady_clock::time_point started_;
  bool stop_requested_ = false;
  bool restart_requested_ = false;
};

}  // namespace fairgv::daemon
