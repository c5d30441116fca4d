// Asking the daemon: one control connection, requests and answers.
#pragma once

#include <string>

#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/control/protocol.hpp"

namespace fairgv::tools {

class Control {
 public:
  /// An empty path: the default socket. `code`, if given, receives errno when no daemon could be reached,
  /// EPERM when the process there may not be trusted, ECONNRESET when the daemon hung up without an answer,
  /// as an ending daemon does, else 0.
  static Result<Control> connect(const std::string& socket_path, int* code = nullptr);

  /// The daemon's answer, which may say that it refuses.
  Result<std::string> ask(const control::ControlRequest& request);

  /// The same of an answer that comes with files: its packet.
  Result<Packet> ask_for_files(const control::ControlRequest& request);

  /// Returns when the daemon has hung up, for instance because it has ended.
  void wait_for_hang_up();
  /// The connection itself.
  [[nodiscard]] UniqueFd release() { return socket_.release(); }

 private:
  explicit Control(Socket socket) : socket_(std::move(socket)) {}
  Socket socket_;
};

}  // namespace fairgv::tools
