// Answers the requests of the `fairgv` command.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "runtime/control/answers.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/daemon/trace/slot.hpp"
#include "runtime/daemon/reports/usage_keeper.hpp"
#include "runtime/daemon/session_table.hpp"
#include "runtime/daemon/limits/account.hpp"

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

  std::optional<std::string> text;  // none: it comes later, from the usage keeper and with the peer's token
  bool awaits_more = false;         // the peer waits for that, or for the daemon to end
};

class Control {
 public:
  /// All outlive it. `socket` is for the report; `reload` reads the configuration again.
  Control(Host& host, SessionTable& sessions, UsageKeeper& usage, std::string socket,
          std::function<Result<control::ReloadReport>()> reload);

  /// Administrators may do everything: root, the daemon's own user, and users who were in its admin_group
  /// when they connected. Others may look (at the past: at their own tenants'), set their own tenants'
  /// weights within the rules, and trace, end, pause and resume their own sessions.
  ControlAnswer answer(const std::string& request, const ControlPeer& from);
  /// The connection is gone: what it has begun ends.
  void leave(std::uint64_t token) { traces_.leave(token); }

  /// When expire() wants to be called.
  std::optional<std::chrono::steady_clock::time_point> deadline() const { return traces_.deadline(); }
  void expire(std::chrono::steady_clock::time_point now) { traces_.expire(now); }

  /// An administrator has asked the daemon to stop.
  bool stop_requested() const { return stop_requested_; }
  /// The same for a restart; asking takes it.
  bool take_restart_request() { return std::exchange(restart_requested_, false); }

 private:
  std::string set_weight(const control::ControlRequest& request, const ControlPeer& by);
  std::string set_memory(const control::ControlRequest& request, const ControlPeer& by);
  std::string set_policy(const control::ControlRequest& request, const ControlPeer& by);
  std::string read_trace(const control::ControlRequest& request, const ControlPeer& by);
  std::string intervene(const control::ControlRequest& request, const ControlPeer& by);
  std::string reload(const ControlPeer& by);
  std::string whoami(const control::ControlRequest& request, const ControlPeer& peer) const;

  Host& host_;
  SessionTable& sessions_;
  UsageKeeper& usage_;
  const std::string socket_;
  const std::function<Result<control::ReloadReport>()> reload_;
  TraceSlot traces_;
  const std::chrono::steady_clock::time_point started_;
  bool stop_requested_ = false;
  bool restart_requested_ = false;
};

}  // namespace fairgv::daemon
