// `fairgv migrate`, `park`, and `resume` of what is parked: moves a session, or all sessions of a tenant one
// after another, and answers when the last has moved.
//
// Administrators may move all of them, to every device that their workers see. Other users may move and park
// the sessions of their own programs and their own tenants, to the devices that the tenant may use; they
// cannot resume what an administrator has parked. Used by the server's thread only. The constructor's
// arguments outlive it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/control/moves.hpp"
#include "runtime/control/protocol.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/session_table.hpp"
#include "runtime/daemon/tenants/tenants.hpp"

namespace fairgv::daemon {

class Migrations {
 public:
  /// Gives the peer with this key its answer; the peer may be gone by now.
  using Answer = std::function<void(std::uint64_t key, const std::string& text)>;

  Migrations(const Config& config, const TenantRegistry& tenants, SessionTable& sessions, Answer answer)
      : config_(config), tenants_(tenants), sessions_(sessions), answer_(std::move(answer)) {}

  /// The answer to a request of one of the three kinds, where there is one at once; else the peer has it
  /// later. A peer asks for one thing at a time.
  Result<std::optional<std::string>> ask(const control::ControlRequest& request, const Account& by,
                                         std::uint64_t key);

 private:
  using Command = control::ControlRequest::Command;
  struct Batch {
    Command command = Command::migrate;
    std::deque<SessionId> left;
    std::optional<std::uint32_t> device;  // the host's; none: a new worker where the session is
    Account by;
    bool force = false;    // though programs could tell the devices apart
    bool to_file = false;  // see Parking
    bool wakes = false;
    bool of_tenant = false;  // a failure of one session is no failure of the request
    control::MoveReport report{};
  };

  Result<std::deque<SessionId>> sessions_of(const control::ControlRequest& request, const Account& by) const;
  void choose(Command command, std::deque<SessionId>& list) const;
  static std::string answer_of(const Batch& batch);
  Result<std::optional<std::uint32_t>> target(const Session& session, const Batch& batch) const;
  Result<void> begin_next(std::uint64_t key);
  void on_moved(std::uint64_t key, const MoveOutcome& outcome);
  std::optional<std::string> move_on(std::uint64_t key);

  const Config& config_;
  const TenantRegistry& tenants_;
  SessionTable& sessions_;
  const Answer answer_;
  std::map<std::uint64_t, Batch> batches_;  // by the peer's key
};

}  // namespace fairgv::daemon
