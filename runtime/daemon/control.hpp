// Answers the requests of the `fairgv` command.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "runtime/daemon/session_table.hpp"
#include "runtime/session/control_answers.hpp"
#include "runtime/session/control_protocol.hpp"

namespace fairgv::daemon {

class Control {
 public:
  /// All outlive it. `socket` is for the report; `reload` reads the configuration again.
  Control(Host& host, const SessionTable& sessions, std::string socket,
          std::function<Result<session::ReloadReport>()> reload);

  /// The answer's text. Administrators may do everything: root, the daemon's own user, and whoever was in its
  /// admin_group when connecting. Others may look, and set their own tenants' weights within the rules.
  /// `peer_socket` is the connection on which the request came.
  std::string answer(const std::string& request, const session::PeerCredentials& peer, int peer_socket,
                     bool administrator);

  /// Somebody who may has asked the daemon to stop.
  bool stop_requested() const { return stop_requested_; }
  /// The same for a restart; asking takes it.
  bool take_restart_request() { return std::exchange(restart_requested_, false); }

 private:
  std::string set_weight(const session::ControlRequest& request, uid_t by, bool administrator);
  std::string set_memory(const session::ControlRequest& request, uid_t by, bool administrator);
  std::string set_policy(const session::ControlRequest& request, uid_t by);
  std::string reload(uid_t by);
  std::string whoami(const session::ControlRequest& request, const session::PeerCredentials& peer,
                     int peer_socket, bool administrator) const;

  Host& host_;
  const SessionTable& sessions_;
  const std::string socket_;
  const std::function<Result<session::ReloadReport>()> reload_;
  const std::chrono::steady_clock::time_point started_;
  bool stop_requested_ = false;
  bool restart_requested_ = false;
};

}  // namespace fairgv::daemon
