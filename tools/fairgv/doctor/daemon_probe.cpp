#include "tools/fairgv/doctor/daemon_probe.hpp"

#include <sys/socket.h>

#include "runtime/control/protocol.hpp"
#include "runtime/session/trust/trusted_daemon.hpp"

namespace fairgv::tools::doctor {
namespace {

Result<void> greet(const Socket& socket) {
  session::Hello hello;
  hello.role = session::Hello::Role::control;
  FAIRGV_CHECK(socket.send(to_text(hello)));
  FAIRGV_TRY(packet, socket.receive());
  if (packet->kind == Packet::Kind::nothing) return Error{"no answer in time"};
  if (packet->kind == Packet::Kind::closed) return Error{"it hung up without an answer"};
  FAIRGV_TRY(answer, session::parse_hello_answer(packet->text));
  if (const auto* refused = std::get_if<session::Refused>(&answer.value())) return Error{refused->reason};
  return {};
}

Result<control::Report> ask_report(const Socket& socket) {
  FAIRGV_CHECK(greet(socket));
  FAIRGV_CHECK(socket.send(to_text(control::ControlRequest{})));
  FAIRGV_TRY(answer, control::receive_answer(socket));
  return control::parse_report(answer.value());
}

}  // namespace

DaemonAnswer ask_daemon(const std::string& path, std::chrono::milliseconds patience) {
  DaemonAnswer answer;
  const auto socket = session::connect_to_daemon(path, &answer.connect_error);
  if (!socket) {
    answer.error = socket.error().message;
    return answer;
  }
  answer.connect_error = 0;
  if (const auto peer = socket.value().peer()) {
    answer.pid = peer.value().pid;
    answer.user = peer.value().uid;
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
  const timeval limit{seconds.count(), std::chrono::microseconds(patience - seconds).count()};
  for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    ::setsockopt(socket.value().fd(), SOL_SOCKET, direction, &limit, sizeof(limit));
  }
  const auto report = ask_report(socket.value());
  if (report) {
    answer.version = report->daemon.version;
    answer.devices = report->devices;
    answer.tenants = report->tenants;
  } else {
    answer.error = report.error().message;
  }
  return answer;
}

}  // namespace fairgv::tools::doctor
