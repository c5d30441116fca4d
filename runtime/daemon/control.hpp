// Answers the requests of the `fairgv` command.
#pragma once

#include <chrono>
#include <string>

#include "runtime/daemon/session_table.hpp"
#include "runtime/session/control_protocol.hpp"

namespace fairgv::daemon {

class Control {
 public:
  /// All outlive it. `socket` is for the report.
  Control(Host& host, const SessionTable& sessions, std::string socket);

  /// The answer's text. `peer` decides what is allowed: root and the daemon's own user may do everything.
  std::string answer(const std::string& request, const session::PeerCredentials& peer);

  /// Somebody who may has asked the daemon to stop.
  bool stop_requested() const { return stop_requested_; }

 private:
  std::string set_weight(const session::ControlRequest& request, const session::PeerCredentials& peer);
  std::string set_policy(const session::ControlRequest& request, const session::PeerCredentials& peer);

  Host& host_;
  const SessionTable& sessions_;
  const std::string socket_;
  const std::chrono::steady_clock::time_point started_;
  bool stop_requested_ = false;
};

}  // namespace fairgv::daemon
