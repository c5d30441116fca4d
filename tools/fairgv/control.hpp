// Asking the daemon: one control connection, requests and answers.
#pragma once

#include <string>

#include "runtime/ring/result.hpp"
#include "runtime/session/control_protocol.hpp"
#include "runtime/session/socket.hpp"

namespace fairgv::tools {

class Control {
 public:
  /// An empty path: the default socket.
  static Result<Control> connect(const std::string& socket_path);

  /// The daemon's answer, which may say that it refuses.
  Result<std::string> ask(const session::ControlRequest& request);

 private:
  explicit Control(session::Socket socket) : socket_(std::move(socket)) {}
  session::Socket socket_;
};

}  // namespace fairgv::tools
