// fairgvd itself: the socket, the connections that are no sessions, signals, and the end.
//
// One thread runs it. SIGTERM and SIGINT (and `fairgv stop`) end every session and then the daemon; SIGHUP
// reads the configuration again; SIGUSR2 (and `fairgv restart`) replaces the daemon by the program that now
// lies at its path, while sessions go on (succession.hpp). Nothing runs while nothing happens: the only
// timeouts are those of a client that has not said hello, a worker that is not ready yet, and the exit of an
// idle daemon that was asked to.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/daemon/account.hpp"
#include "runtime/daemon/control.hpp"
#include "runtime/daemon/metrics_server.hpp"
#include "runtime/daemon/service_manager.hpp"
#include "runtime/daemon/session_table.hpp"
#include "runtime/daemon/vendor_directory.hpp"
#include "runtime/session/socket.hpp"

namespace fairgv::daemon {

struct ServerSettings {
  std::string socket_path;                                 // absolute
  std::optional<std::string> config_path;                  // absolute; read again on SIGHUP
  std::optional<std::chrono::duration<double>> exit_idle;  // of the command line; over the configuration
  std::optional<std::string> log_level;                    // the same
  std::filesystem::path worker_program;
  std::filesystem::path program;  // of the daemon; what a restart starts
  int lock_fd = -1;               // the caller's; for a restart
  ring::UniqueFd listener{};      // listens at socket_path for a service manager; none: one is made
};

class Server {
 public:
  /// Blocks the signals that it handles in the calling thread: call it before other threads start. With a
  /// handover it goes on with what the program before it in this process has left.
  static Result<std::unique_ptr<Server>> create(ServerSettings settings, Config config,
                                                const std::optional<Handover>& handover = {});
  ~Server();

  /// Serves until told to stop; afterwards no worker is left.
  void run();

 private:
  using Time = std::chrono::steady_clock::time_point;

  /// A client that has not become a session: it has not said hello yet, or is a control connection.
  struct Connection {
    session::Socket socket;
    session::PeerCredentials peer;
    Account account;
    std::optional<Time> hello_by;  // none: it is a control connection
    EventLoop::Watch watch;
    std::unique_ptr<Trace> trace{};  // that it records
  };

  Server(ServerSettings settings, Config config, std::unique_ptr<EventLoop> events,
         std::unique_ptr<DispatchLoop> dispatch, VendorDirectory vendors, session::Listener listener,
         ring::UniqueFd signals);
  Result<void> watch_everything();
  void accept_all();
  void add_connection(session::Socket socket);
  void on_connection(std::uint64_t key);
  void greet(std::uint64_t key, const std::string& text);
  bool has_too_many_connections(uid_t owner) const;
  void refuse(std::uint64_t key, const std::string& reason);
  void tell_refused(const session::PeerCredentials& peer, const Account& account, const std::string& reason);
  void on_signal();
  void reload_on_signal();
  /// Reads the configuration again and has everything go by it. On an Error (a line for each mistake) all is
  /// as it was.
  Result<session::ReloadReport> reload();
  void apply(Config config, session::ReloadReport& report);
  Result<void> listen_again();
  void begin_restart();
  bool ready_to_restart() const;
  void restart();
  void answer_usage(std::uint64_t key, const std::string& answer);
  std::string metrics();
  std::optional<std::string> unready() const;
  void start_services();
  void apply_log_level() const;
  void place_dispatcher() const;
  std::optional<Time> next_deadline();
  void expire(Time now);
  bool idle_for_too_long(Time now);
  void tell_sessions();
  void shut_down();

  const ServerSettings settings_;
  std::unique_ptr<EventLoop> events_;
  std::map<std::uint64_t, Connection>
      connections_;  // closed last: who waits for the end finds all files gone
  std::unique_ptr<DispatchLoop> dispatch_;
  VendorDirectory vendors_;
  Host host_;
  SessionTable sessions_;
  UsageKeeper usage_;
  MetricsServer metrics_;
  Control control_;
  session::Listener listener_;
  ring::UniqueFd signals_;
  std::uint64_t last_connection_ = 0;
  std::map<uid_t, std::string> last_refusals_;
  std::optional<Time> accept_again_;  // accepting failed, for want of descriptors: rest until then
  std::optional<Time> idle_since_;
  Watchdog watchdog_ = Watchdog::from_environment();  // the service manager's, over us
  std::size_t told_sessions_ = 0;                     // to the service manager
  bool stopping_ = false;
  bool restarting_ = false;  // nobody new is accepted, and as soon as all is settled, the program is replaced
  EventLoop::Watch listener_watch_;
  EventLoop::Watch signal_watch_;
  EventLoop::Watch broken_watch_;
};

}  // namespace fairgv::daemon
