// fairgvd itself: its parts, signals, reading the configuration again, and the end.
//
// One thread runs it. SIGTERM and SIGINT (and `fairgv stop`) end every session and then the daemon; SIGHUP
// reads the configuration again; SIGUSR2 (and `fairgv restart`) replaces the daemon by the program that now
// lies at its path, while sessions go on (succession.hpp). Nothing runs while nothing happens: the only
// timeouts are those of connections that say nothing (reception.hpp), a worker that is not ready yet, and the
// exit of an idle daemon that was asked to.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/socket.hpp"
#include "runtime/daemon/config/vendor_directory.hpp"
#include "runtime/daemon/control.hpp"
#include "runtime/daemon/reception.hpp"
#include "runtime/daemon/reports/metrics_server.hpp"
#include "runtime/daemon/service/service_manager.hpp"
#include "runtime/daemon/session_table.hpp"
#include "runtime/daemon/succession.hpp"
#include "runtime/daemon/tenants/entrance.hpp"
#include "runtime/daemon/worker/installation.hpp"

namespace fairgv::daemon {

struct ServerSettings {
  std::string socket_path;                                 // absolute
  std::optional<std::string> config_path;                  // absolute; read again on SIGHUP
  std::optional<std::chrono::duration<double>> exit_idle;  // of the command line; over the configuration
  std::optional<std::string> log_level;                    // the same
  std::filesystem::path worker_program;
  std::filesystem::path program;  // of the daemon; a restart starts it
  int lock_fd = -1;               // the caller's; for a restart
  UniqueFd listener{};            // listens at socket_path for a service manager; none: one is made
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

  Server(ServerSettings settings, Config config, std::unique_ptr<EventLoop> events,
         std::unique_ptr<DispatchLoop> dispatch, VendorDirectory vendors, Listener listener,
         UniqueFd signals);
  Result<void> watch_everything();
  void count_descriptors();
  Estate estate() { return {*dispatch_, tenancies_, devices_, markets_, sessions_, usage_, life_}; }
  Sources sources() {
    return {dispatch_->looks(),    tenancies_, devices_.table(), sessions_.sessions(),
            devices_.placements(), markets_};
  }
  void on_signal();
  void reload_on_signal();
  /// Reads the configuration again and applies it. On an Error (a line for each mistake) nothing changes.
  Result<control::ReloadReport> reload();
  void apply(Config config, control::ReloadReport& report);
  void begin_restart();
  bool ready_to_restart() const;
  void restart();
  std::string metrics();
  std::optional<std::string> unready() const;
  std::vector<std::string> unkept_promises() const;
  void start_services();
  void apply_log_level() const;
  void place_dispatcher() const;
  std::optional<Time> next_deadline();
  void expire(Time now);
  bool idle_for_too_long(Time now);
  std::chrono::duration<double> exit_idle() const;
  void tell_sessions();
  void shut_down();

  const ServerSettings settings_;
  Config config_;  // as it was read last: the parts look at it
  std::unique_ptr<EventLoop> events_;
  std::optional<Reception> reception_;  // hangs up last: a peer that waits for the end finds all files gone
  std::unique_ptr<DispatchLoop> dispatch_;
  VendorDirectory vendors_;
  Installation installation_;
  DaemonLife life_;
  UserLog log_;
  Entrance entrance_{config_};
  Tenancies tenancies_;
  DeviceKeeper devices_;
  Markets markets_;
  SessionTable sessions_;
  UsageKeeper usage_;
  Checkpoints checkpoints_;
  MetricsServer metrics_;
  Control control_;
  Listener listener_;
  UniqueFd signals_;
  std::optional<Time> idle_since_;
  Watchdog watchdog_ = Watchdog::from_environment();  // the service manager's, over us
  std::size_t told_sessions_ = 0;                     // to the service manager
  bool stopping_ = false;
  bool restarting_ = false;  // nobody new is accepted, and as soon as all is settled, the program is replaced
  EventLoop::Watch signal_watch_;
  EventLoop::Watch broken_watch_;
};

}  // namespace fairgv::daemon
