// Starts the worker of a session: the memory that the worker shares with its client, the channels to it, and
// the process in its cage. A session that moves gets another worker over the same memory.
//
// Used by the server's thread only. The constructor's arguments outlive it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/service/user.hpp"
#include "runtime/daemon/sessions/session.hpp"
#include "runtime/daemon/tenants/tenants.hpp"
#include "runtime/daemon/worker/installation.hpp"
#include "runtime/session/direct/direct_mode.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

class WorkerStarter {
 public:
  /// How long a worker may take to open its driver.
  static constexpr std::chrono::seconds kPatience{30};

  WorkerStarter(const Config& config, Installation& installation)
      : config_(config), installation_(installation) {}

  /// The peer that wants a session; used during the call only.
  struct Request {
    SessionId id;
    const Tenant& tenant;
    const PeerCredentials& peer;
    const Account& account;
    const session::Hello& hello;
  };
  /// A session of the client that said this hello, with its worker; the client's socket is the caller's.
  Result<std::unique_ptr<Session>> start(const Request& request) const;
  /// The same of a direct program, which hears of its worker's ends on its socket and is its own worker.
  /// `allowed`: by its tenant's rule.
  Result<std::unique_ptr<Session>> start_direct(const Request& request, const Socket& client,
                                                std::optional<session::DirectMode> allowed) const;
  /// A further worker of a running session, which waits until the session is handed to it.
  struct Successor {
    Socket channel, ledger;
    std::unique_ptr<WorkerOutput> messages;
    WorkerProcess process;
  };
  Result<Successor> start_successor(const Session& session) const;
  /// A worker that serves no session, by the drivers of this API, but tries this device, as the daemon's
  /// user: no other user can do anything to it.
  Result<Successor> start_trial(session::Api api, const session::DeviceDescription& device) const;
  /// Logs the drivers that a worker could not open, once: the next worker would find the same.
  void tell_unusable_drivers(const session::WorkerReady& ready);

 private:
  /// The worker's ends of the objects that it shares with the daemon.
  struct Ends {
    Socket channel, ledger;
    UniqueFd errors;
  };
  struct Made {
    std::unique_ptr<Session> session;
    Ends ends;
  };
  Result<Made> make(const Request& request) const;
  Result<WorkerProcess> spawn(const Session& session, const Ends& ends, int segment, bool takes_over) const;
  Result<WorkerProcess> spawn(session::WorkerOptions options, int errors, int output,
                              const std::optional<User>& run_as) const;

  const Config& config_;
  Installation& installation_;
};

}  // namespace fairgv::daemon
