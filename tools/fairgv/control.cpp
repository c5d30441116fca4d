#include "tools/fairgv/control.hpp"

#include <cerrno>

#include "runtime/session/paths.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/trust/trusted_daemon.hpp"

namespace fairgv::tools {
Result<Control> Control::connect(const std::string& socket_path, int* code) {
  FAIRGV_TRY(socket, session::connect_to_daemon(
                         socket_path.empty() ? session::default_socket_path() : socket_path, code));
  if (code != nullptr) *code = 0;
  session::Hello hello;
  hello.role = session::Hello::Role::control;
  // If it has hung up already, there may still be an answer; if there is none, receiving says so.
  static_cast<void>(socket->send(to_text(hello)));
  FAIRGV_TRY(packet, socket->receive());
  if (packet->kind != Packet::Kind::message) {
    if (code != nullptr) *code = ECONNRESET;
    return Error{control::kHungUp};
  }
  FAIRGV_TRY(answer, session::parse_hello_answer(packet->text));
  if (const auto* refused = std::get_if<session::Refused>(&answer.value())) return Error{refused->reason};
  return Control(std::move(socket).value());
}

Result<std::string> Control::ask(const control::ControlRequest& request) {
  const auto sent = socket_.send(to_text(request));
  // A daemon that has hung up has said why, and that is still there to be read.
  auto answer = control::receive_answer(socket_);
  return sent || answer ? answer : Result<std::string>(Error{control::kHungUp});
}

Result<Packet> Control::ask_for_files(const control::ControlRequest& request) {
  const auto sent = socket_.send(to_text(request));
  auto packet = socket_.receive();  // as in ask()
  if (packet ? packet->kind != Packet::Kind::message : !sent) return Error{control::kHungUp};
  return packet;
}

void Control::wait_for_hang_up() {
  for (;;) {
    const auto packet = socket_.receive();
    if (!packet || packet->kind == Packet::Kind::closed) return;
  }
}

}  // namespace fairgv::tools
