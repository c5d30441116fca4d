#include "tools/fairgv/top/link.hpp"

#include <algorithm>

#include "runtime/session/protocol.hpp"
#include "runtime/session/trust/trusted_daemon.hpp"

namespace fairgv::tools::top {
namespace {

constexpr std::chrono::seconds kRetry{1};
constexpr std::chrono::seconds kPatience{5};

}  // namespace

DaemonLink::DaemonLink(std::string socket_path, Events events)
    : socket_path_(std::move(socket_path)), events_(std::move(events)) {}

void DaemonLink::ask_report(Time now) {
  // One look that waits for its turn is as good as several.
  const bool waits = std::any_of(requests_.begin(), requests_.end(), [](const Request& each) {
    return std::holds_alternative<LookRequest>(each);
  });
  if (!waits) requests_.emplace_back(LookRequest{});
  send_next(now);
}

void DaemonLink::ask(const Change& change, Time now) {
  if (state_ == State::apart) return events_.answered(change, Error{"no daemon answers at " + socket_path_});
  requests_.emplace_back(change);
  send_next(now);
}

void DaemonLink::tick(Time now) {
  if (now < deadline_) return;
  if (state_ == State::apart) return connect(now);
  if (state_ != State::ready) return hang_up("the daemon at " + socket_path_ + " does not answer", now);
  deadline_ = Time::max();
}

void DaemonLink::connect(Time now) {
  auto socket = session::connect_to_daemon(socket_path_);
  if (!socket) return hang_up(socket.error().message, now);
  socket_ = std::move(socket).value();
  session::Hello hello;
  hello.role = session::Hello::Role::control;
  if (auto sent = socket_.send(to_text(hello)); !sent) return hang_up(sent.error().message, now);
  state_ = State::greeting;
  deadline_ = now + kPatience;
}

void DaemonLink::readable(Time now) {
  if (state_ == State::asked) return take_answer(now);
  if (state_ == State::ready && now - greeted_ >= kRetry) return come_again(now);
  const auto packet = socket_.receive();
  if (!packet) return hang_up(packet.error().message, now);
  if (packet->kind != Packet::Kind::message || state_ != State::greeting) {
    return hang_up("the daemon at " + socket_path_ + " has hung up", now);
  }
  const auto answer = session::parse_hello_answer(packet->text);
  if (!answer) return hang_up(answer.error().message, now);
  if (const auto* refused = std::get_if<session::Refused>(&answer.value())) {
    return hang_up(refused->reason, now);
  }
  state_ = State::ready;
  greeted_ = now;
  deadline_ = Time::max();
  send_next(now);
}

/// The daemon hangs up on a connection over which nothing is asked for long: that is no loss.
void DaemonLink::come_again(Time now) {
  socket_.close();
  state_ = State::apart;
  deadline_ = now;
}

void DaemonLink::send_next(Time now) {
  if (state_ != State::ready || requests_.empty()) return;
  const auto* change = std::get_if<Change>(&requests_.front());
  const auto sent = socket_.send(to_text(change != nullptr ? change->request : control::ControlRequest{}));
  if (!sent) return hang_up(sent.error().message, now);
  state_ = State::asked;
  deadline_ = now + kPatience;
}

void DaemonLink::take_answer(Time now) {
  // The socket is readable, so this does not wait: packets come whole.
  const auto answer = control::receive_answer(socket_);
  if (!answer) return hang_up(answer.error().message, now);
  Request request = std::move(requests_.front());
  requests_.pop_front();
  state_ = State::ready;
  deadline_ = Time::max();
  if (auto* const change = std::get_if<Change>(&request)) {
    for (const std::string& warning : control::warnings_of(answer.value())) change->done += "; " + warning;
    events_.answered(*change, control::parse_outcome(answer.value()));
  } else {
    take_report(answer.value(), now);
  }
  send_next(now);
}

void DaemonLink::take_report(const std::string& text, Time now) {
  auto report = control::parse_report(text);
  if (!report) return hang_up(report.error().message, now);
  events_.report(std::move(report).value());
}

void DaemonLink::hang_up(const std::string& why, Time now) {
  socket_.close();
  state_ = State::apart;
  deadline_ = now + kRetry;
  const auto requests = std::exchange(requests_, {});
  for (const Request& each : requests) {
    if (const auto* change = std::get_if<Change>(&each)) events_.answered(*change, Error{why});
  }
  // The next connection begins with a look.
  requests_.emplace_back(LookRequest{});
  events_.lost(why);
}

}  // namespace fairgv::tools::top
