// The door: connections from being accepted until they are sessions, and those of the
// `fairgv` command until they end.
//
// Nobody can keep others out by coming often, staying or saying nothing. Each user has a limit of
// connections; some places are kept for administrators; when all others are taken, the user who has the most
// gives one up. A connection that does not say what it is for, asks for nothing for long
// (unless an administrator's) or does not read its answers is hung up on. Requests of users wait in a queue
// of which each user has a turn (request_queue.hpp), those of administrators are answered at once. Used by
// the server's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/socket.hpp"
#include "runtime/daemon/control.hpp"
#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/limits/places.hpp"
#include "runtime/daemon/limits/request_queue.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/service/event_loop.hpp"
#include "runtime/daemon/session_table.hpp"
#include "runtime/daemon/tenants/entrance.hpp"

namespace fairgv::daemon {

class Reception {
 public:
  using Time = EventLoop::Time;

  /// All outlive it, or its last call.
  struct Needs {
    const Config& config;
    EventLoop& events;
    Entrance& entrance;
    SessionTable& sessions;
    Control& control;
    const Listener& listener;
    UserLog& log;
  };
  explicit Reception(const Needs& needs) : needs_(needs) {}

  /// Lets people in from now on. On an Error it tries again by itself (expire()).
  Result<void> open();
  /// Lets nobody in until it is opened again. Everybody who is in stays.
  void close();
  /// Hangs up on everybody who is in.
  void hang_up();

  /// Sends an answer that comes later; its peer may be gone by now.
  void answer(std::uint64_t key, const std::string& text, const std::vector<UniqueFd>& files = {});
  /// Answers requests that wait, for a moment; after every round of events.
  void serve(Time now);

  /// Whether the daemon ends without connections: then they may be silent, which is how one keeps it.
  void set_ends_when_idle(bool ends) { ends_when_idle_ = ends; }
  bool empty() const { return connections_.empty(); }
  /// Whether a connection has yet to say what it is for.
  bool expects_hello() const;
  /// Whether the system has no descriptors for the next connection.
  bool is_exhausted() const { return open_again_.has_value(); }

  /// When expire() wants to be called.
  std::optional<Time> deadline() const;
  void expire(Time now);

 private:
  /// A client that has not become a session: it has not said hello yet, or is a control connection.
  struct Connection {
    Socket socket;
    PeerCredentials peer;
    Account account;
    std::optional<Time> hello_by;  // none: it is a control connection
    Time heard;                    // when it last said something, or was answered
    bool awaits = false;           // an answer that comes later, or our end: nothing is read meanwhile
    bool queued = false;           // its request waits in the queue, unread
    EventLoop::Watch watch;
  };

  void accept_all();
  void admit(Socket socket);
  Result<void> find_place(const Account& account, uid_t uid);
  void on_connection(std::uint64_t key);
  void hear(std::uint64_t key);
  void greet(std::uint64_t key, const std::string& text);
  void answer_request(std::uint64_t key, const std::string& text);
  void listen_to(std::uint64_t key);
  std::optional<Time> time_of_end(const Connection& connection) const;
  void end(std::uint64_t key, const std::string& reason);
  void refuse(std::uint64_t key, const std::string& reason);
  void tell_refused(const PeerCredentials& peer, const Account& account, const std::string& reason);
  void drop(std::uint64_t key);

  const Needs needs_;
  bool ends_when_idle_ = false;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t last_key_ = 0;
  RequestQueue queue_;
  std::map<uid_t, std::string> last_refusals_;  // by owner
  std::optional<Time> open_again_;              // accepting failed, for want of descriptors: rest until then
  bool told_exhausted_ = false;
  EventLoop::Watch listener_watch_;
};

}  // namespace fairgv::daemon
