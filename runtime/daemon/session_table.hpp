// All sessions and their life: starting a worker for a client, handing over the memory, and clearing up when
// one of the two is gone. Never waits for a client or a worker.
//
// What a session needs from elsewhere (tenants, devices, dispatching) lies in the Host that it is given. Used
// by the server's thread only.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "runtime/daemon/books/kill_book.hpp"
#include "runtime/daemon/books/memory_book.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/devices/hardware.hpp"
#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/handover/handover.hpp"
#include "runtime/daemon/limits/descriptor_plan.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/service/event_loop.hpp"
#include "runtime/daemon/session.hpp"
#include "runtime/daemon/tenants/owners.hpp"
#include "runtime/daemon/tenants/tenants.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

class Trace;

/// What the daemon's parts share. Everything outlives the session table.
struct Host {
  Config config;
  EventLoop& events;
  DispatchLoop& dispatch;
  TenantRegistry tenants;
  std::filesystem::path worker_program;
  std::filesystem::path vendors;                    // the workers' OCL_ICD_VENDORS
  std::vector<session::DeviceDescription> devices;  // that any worker has seen; each sees some (DeviceView)
  std::vector<std::string> drivers{};               // that the vendor files name
  Hardware hardware{};                              // by device
  bool drivers_examined = false;                    // a worker has told which of them cannot be opened
  MemoryBook memory{};
  /// Called before totals are forgotten: whoever keeps them looks once more.
  std::function<void()> before_forgetting = [] {};
  Trace* trace = nullptr;  // that is being recorded, if any
  Owners owners{};         // of subordinate user ids
  UserLog log{};           // for lines that users cause
  DescriptorPlan descriptors{};
  bool ends_when_idle = false;  // the daemon, without any connection
  std::uint64_t restarts = 0;   // since the first daemon of this process began to serve
  std::chrono::steady_clock::time_point serving_since = std::chrono::steady_clock::now();  // that one
};

class SessionTable {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// How long a worker may take to open its driver.
  static constexpr std::chrono::seconds kWorkerPatience{30};

  explicit SessionTable(Host& host) : host_(host) {}

  /// Starts a worker for a client that said hello. The client hears of the outcome later, or at once by the
  /// Error, which the caller must tell it.
  Result<void> start(const session::Hello& hello, const PeerCredentials& peer,
                     Socket& client);

  /// Whether no session is starting or ending: only then it can be handed over.
  bool settled() const;
  /// What a daemon after this one needs to know of all sessions. Descriptors stay this table's.
  std::vector<HandedSession> handed() const;
  std::uint32_t last_id() const { return last_id_; }
  /// Goes on with a session of the daemon before, whose tenant is known; takes its descriptors. On an Error
  /// its worker is killed.
  Result<void> adopt(const HandedSession& handed);
  /// Ended sessions that the daemon before knew of.
  void continue_after(std::uint32_t last_id, const std::vector<Kill>& kills);

  /// One more device of the host's, behind the others; `hardware` is the first that is the same, or itself.
  void add_device(const session::DeviceDescription& device, std::uint32_t hardware);

  /// Has the sessions go by the host's configuration, which was read again, as far as they can.
  void apply_configuration();

  /// A session that is not ending, or null.
  const Session* find(SessionId id) const;
  /// `fairgv kill`: ends it as if its worker had died. It must be one that find() has found.
  void end(SessionId id, const std::string& reason);
  /// `fairgv pause` and `resume` of one that find() has found.
  void set_pause(SessionId id, const std::optional<control::Pause>& pause);
  /// Whether it, or its tenant, is paused.
  bool is_suspended(const Session& session) const;
  /// After a tenant was paused or resumed.
  void tell_pauses(TenantId tenant);

  /// Ends sessions that broke the turn protocol.
  void end_broken();
  /// Kills every worker; the table is empty when nothing is left of them.
  void end_all(const std::string& reason);

  /// When expire() wants to be called.
  std::optional<Time> deadline() const;
  /// Ends sessions whose worker does not become ready, and goes on with what takes its time.
  void expire(Time now);

  const std::map<SessionId, std::unique_ptr<Session>>& all() const { return sessions_; }
  bool empty() const { return sessions_.empty(); }
  /// Sessions that somebody or something has ended before their programs did.
  const KillBook& kills() const { return kills_; }

 private:
  std::size_t sessions_of(uid_t owner) const;
  void tell_slicing_floor(Session& session) const;
  Result<std::unique_ptr<Session>> prepare(const Tenant& tenant, const PeerCredentials& peer,
                                           const Account& account, const session::Hello& hello);
  Result<void> watch(Session& session);
  Result<void> watch_client(Session& session);
  void on_client_message(SessionId id);
  bool answer_question(Session& session);
  void tell_of_driver(Session& session);
  void on_worker_message(SessionId id);
  void on_ledger_message(SessionId id);
  bool hear_worker(Session& session);
  void on_worker_text(Session& session, const std::string& text);
  void on_ready(Session& session, const session::WorkerReady& ready);
  void on_long_command(Session& session, const session::LongCommand& command);
  void tell_unusable_drivers(const session::WorkerReady& ready);
  Result<void> see_devices(Session& session, const session::WorkerReady& ready);
  bool forget_devices();
  std::optional<std::chrono::nanoseconds> look_at_processors(Session& session);
  void look_at_processors(Time now);
  Result<void> admit(Session& session);
  void tell_pause(const Session& session);
  /// What the dispatchers need of it, while it is in the table.
  DispatchedSession dispatched(Session& session) const;
  void on_worker_end(SessionId id);
  void remove_if_clear(SessionId id);
  void end(Session& session, const std::string& reason, std::optional<Fault> fault = {});
  void note_kill(const Session& session, const std::string& reason);
  void account_memory(const Session& session);
  void judge(const Session& session, std::optional<Fault> fault);
  void leave_tenant(TenantId id);
  void hold_back(Session& session, Time now);
  void let_go_on(Time now);

  Host& host_;
  std::map<SessionId, std::unique_ptr<Session>> sessions_;
  KillBook kills_;
  std::uint32_t last_id_ = 0;
  Time next_processor_look_{};
};

}  // namespace fairgv::daemon
