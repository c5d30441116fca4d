// A control connection that never makes its caller wait: for a screen that goes on answering keys whatever
// the daemon does, and that finds a daemon which comes back.
//
// One thread. The owner polls fd() for reading, calls readable(), and tick() when deadline() has passed.
// Requests are answered in their order, one at a time.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "runtime/base/result.hpp"
#include "runtime/base/socket.hpp"
#include "runtime/control/protocol.hpp"
#include "tools/fairgv/changes.hpp"

namespace fairgv::tools::top {

class DaemonLink {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Events {
    std::function<void(control::Report)> report;
    /// Called with the outcome of a change; also when the daemon is gone before it has answered.
    std::function<void(const Change&, const Result<void>&)> answered;
    /// There is no daemon, or none that answers: why. Said again after each vain attempt.
    std::function<void(const std::string&)> lost;
  };

  DaemonLink(std::string socket_path, Events events);

  /// -1: not connected.
  int fd() const { return socket_.fd(); }
  /// When tick() has something to do.
  Time deadline() const { return deadline_; }

  void ask_report(Time now);
  void ask(const Change& change, Time now);
  void readable(Time now);
  void tick(Time now);

 private:
  enum class State { apart, greeting, ready, asked };
  struct LookRequest {};
  using Request = std::variant<LookRequest, Change>;

  void connect(Time now);
  void come_again(Time now);
  void send_next(Time now);
  void take_answer(Time now);
  void take_report(const std::string& text, Time now);
  void hang_up(const std::string& why, Time now);

  const std::string socket_path_;
  const Events events_;
  Socket socket_;
  State state_ = State::apart;
  std::deque<Request> requests_;  // the first one is under way in state `asked`
  Time deadline_{};               // at once
  Time greeted_{};                // by the daemon it is connected to
};

}  // namespace fairgv::tools::top
