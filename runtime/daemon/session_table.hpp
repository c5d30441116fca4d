// All sessions and their life: starting a worker for a client, handing over the memory, hearing both, and
// clearing up when one of the two is gone. Never waits for a client or a worker.
//
// What there is to do in each part of that life is in sessions/; this class moves sessions from one to the
// next. Used by the server's thread only.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/handover/handover.hpp"
#include "runtime/daemon/service/event_loop.hpp"
#include "runtime/daemon/sessions/departures.hpp"
#include "runtime/daemon/sessions/device_keeper.hpp"
#include "runtime/daemon/sessions/processor_watch.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/suspensions.hpp"
#include "runtime/daemon/sessions/worker_starter.hpp"
#include "runtime/daemon/tenants/entrance.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

class SessionTable {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// What sessions need on their way. All of it outlives the table.
  struct Needs {
    const Config& config;
    EventLoop& events;
    DispatchLoop& dispatch;
    Tenancies& tenancies;
    DeviceKeeper& devices;
    Entrance& entrance;
    Installation& installation;
    UserLog& log;
  };
  explicit SessionTable(const Needs& needs);

  /// Starts a worker for a client that said hello. The client hears of the outcome later, or at once by the
  /// Error, which the caller must tell it.
  Result<void> start(const session::Hello& hello, const PeerCredentials& peer, Socket& client);

  const Sessions& sessions() const { return sessions_; }
  const Sessions::Map& all() const { return sessions_.all(); }
  bool empty() const { return sessions_.empty(); }
  /// A session that is not ending, or null.
  const Session* find(SessionId id) const;
  /// Whether it, or its tenant, is paused.
  bool is_suspended(const Session& session) const;

  // -- a daemon that makes way for the next

  /// Whether no session is starting or ending: only then it can be handed over.
  bool settled() const { return sessions_.all_in(Session::Stage::running); }
  /// What a daemon after this one needs to know of all sessions. Descriptors stay this table's.
  std::vector<HandedSession> handed() const;
  std::uint32_t last_id() const { return last_id_; }
  /// Goes on with a session of the daemon before, whose tenant is known; takes its descriptors. On an Error
  /// its worker is killed.
  Result<void> adopt(const HandedSession& handed);
  /// Ended sessions that the daemon before knew of.
  void continue_after(std::uint32_t last_id, const std::vector<Kill>& kills);

  // -- what people and programs do to sessions

  /// Has the sessions go by the configuration, which was read again, as far as they can.
  void apply_configuration();
  /// `fairgv kill`: ends it as if its worker had died. It must be one that find() has found.
  void end(SessionId id, const std::string& reason);
  /// `fairgv pause` and `resume` of one that find() has found.
  void set_pause(SessionId id, const std::optional<control::Pause>& pause);
  /// After a tenant was paused or resumed.
  void tell_pauses(TenantId tenant) { suspensions_.tell(sessions_, tenant); }
  /// Ends sessions that broke the turn protocol.
  void end_broken();
  /// Kills every worker; the table is empty when nothing is left of them.
  void end_all(const std::string& reason);
  /// Who looks at sessions once more, before the memory of each goes.
  void call_before_removal(std::function<void(Session&)> call) {
    departures_.call_before_removal(std::move(call));
  }

  /// When expire() wants to be called.
  std::optional<Time> deadline() const;
  /// Ends sessions whose worker does not become ready, and goes on with what takes its time.
  void expire(Time now);

 private:
  void tell_slicing_floor(Session& session) const;
  Result<void> watch(Session& session);
  Result<void> watch_client(Session& session);
  void on_client_message(SessionId id);
  bool answer_question(Session& session);
  static void tell_of_driver(Session& session);
  void on_worker_message(SessionId id);
  void on_ledger_message(SessionId id);
  bool hear_worker(Session& session);
  void on_worker_text(Session& session, const std::string& text);
  void on_ready(Session& session, const session::WorkerReady& ready);
  void on_long_command(Session& session, const session::LongCommand& command);
  Result<void> admit(Session& session);
  session::Welcome welcome_of(const Session& session) const;
  /// What the dispatchers need of it, while it is in the table.
  DispatchedSession dispatched(Session& session) const;
  void on_worker_end(SessionId id);
  void end(Session& session, const std::string& reason, std::optional<Fault> fault = {}) {
    departures_.begin(sessions_, session, reason, fault);
  }

  const Needs needs_;
  Sessions sessions_;
  WorkerStarter starter_;
  Suspensions suspensions_;
  ProcessorWatch processors_;
  Departures departures_;
  std::uint32_t last_id_ = 0;
};

}  // namespace fairgv::daemon
