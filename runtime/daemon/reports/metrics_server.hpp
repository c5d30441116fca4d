// Serves metrics by HTTP: /metrics, /healthz and /readyz, on the loopback or a unix socket.
//
// On the server's event loop, without blocking: a page is made when a request is complete, which takes the
// dispatcher's lock for microseconds at a time (DispatchLoop::usage), and sent as the peer takes it. Bounded:
// so many clients at a time, so many bytes of a request, and so long for the whole exchange; one request a
// connection.
//
// Everybody on the machine may connect, so nobody can keep a scraper out: a client that comes when all places
// are taken gets the place of a client that has not asked yet, or does not read. A flood of requests shares
// one page, and making pages takes at most a quarter of the thread's time. Used by the server's thread only.
//
// The pages are prometheus-cpp's; HTTP is not: its own server brings the threads of another web server into a
// process that runs as root, and cannot listen on a unix socket.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/daemon/config/values/metrics_address.hpp"
#include "runtime/daemon/service/event_loop.hpp"

namespace fairgv::daemon {

class MetricsServer {
 public:
  using Time = EventLoop::Time;

  static constexpr std::size_t kMostClients = 16;
  static constexpr std::size_t kLongestRequest = 8'192;
  static constexpr std::chrono::seconds kPatience{5};

  struct Pages {
    std::function<std::string()> metrics;
    /// Why the daemon takes no new programs just now; nothing if it does.
    std::function<std::optional<std::string>()> unready;
  };

  MetricsServer(EventLoop& events, Pages pages) : events_(events), pages_(std::move(pages)) {}
  ~MetricsServer() { close(); }
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// Listens there from now on, and nowhere else; empty: nowhere. `mode`: the permissions of a unix socket.
  /// On an Error nobody listens.
  Result<void> listen(const std::string& address, mode_t mode);
  void close();
  /// The port that was bound; 0: none. For tests, which let the system choose.
  std::uint16_t port() const;

  std::optional<Time> deadline() const;
  void expire(Time now);

 private:
  struct Client {
    UniqueFd fd;
    std::optional<uid_t> user;  // none: a socket that does not tell
    Time give_up;
    std::string request;
    bool awaits_page = false;  // the request is complete, and pages are not to be made yet
    std::string response;      // once the request is complete
    std::size_t sent = 0;
    bool awaits_writing = false;
    EventLoop::Watch watch;  // goes before the descriptor
  };

  Result<void> watch_listener();
  void accept_all();
  void make_room();
  void on_readable(std::uint64_t key);
  void on_writable(std::uint64_t key);
  void send(std::uint64_t key, Client& client);
  void drop(std::uint64_t key);
  std::string respond(std::string_view request);
  const std::string& page();
  void answer_waiting();
  std::size_t count_waiting() const;

  EventLoop& events_;
  const Pages pages_;
  std::string address_;
  std::string socket_path_;  // to remove at the end
  UniqueFd listener_;
  EventLoop::Watch listener_watch_;
  std::optional<Time> accept_again_;         // accepting failed, for want of descriptors: rest until then
  std::map<std::uint64_t, Client> clients_;  // in the order in which they came
  std::optional<std::string> page_;          // while several are answered with one
  Time next_page_{};                         // when one may be made again
  std::uint64_t last_client_ = 0;
  bool all_wait_ = false;  // for a page: nobody else is accepted until they have it
};

}  // namespace fairgv::daemon
