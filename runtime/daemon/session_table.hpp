// All sessions and their life: starting a worker for a client, handing over the memory, hearing both, and
// clearing up when one of the two is gone. Never waits for a client or a worker.
//
// The steps in each part of that life are in sessions/; this class moves sessions from one part to the next.
// Used by the server's thread only.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/handover/handover.hpp"
#include "runtime/daemon/moves/drains.hpp"
#include "runtime/daemon/moves/failures.hpp"
#include "runtime/daemon/moves/moves.hpp"
#include "runtime/daemon/moves/reliefs.hpp"
#include "runtime/daemon/moves/wakes.hpp"
#include "runtime/daemon/oversell/markets.hpp"
#include "runtime/daemon/reports/journals.hpp"
#include "runtime/daemon/service/event_loop.hpp"
#include "runtime/daemon/sessions/departures.hpp"
#include "runtime/daemon/sessions/device_keeper.hpp"
#include "runtime/daemon/sessions/host_weight_watch.hpp"
#include "runtime/daemon/sessions/processes.hpp"
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

  /// The objects that sessions need in their life. All of them outlive the table.
  struct Needs {
    const Config& config;
    EventLoop& events;
    DispatchLoop& dispatch;
    Tenancies& tenancies;
    DeviceKeeper& devices;
    Markets& markets;
    Entrance& entrance;
    Installation& installation;
    UserLog& log;
    Journals::Answer answer;  // to peers that have asked for a journal
  };
  explicit SessionTable(const Needs& needs);

  /// Starts a worker for a client that said hello. The client hears of the outcome later; or this returns an
  /// Error at once, which the caller must tell the client.
  Result<void> start(const session::Hello& hello, const PeerCredentials& peer, Socket& client);

  const Sessions& sessions() const { return sessions_; }
  const Sessions::Map& all() const { return sessions_.all(); }
  bool empty() const { return sessions_.empty() && moves_.settled() && failures_.settled(); }
  /// A session that is not ending, or null.
  const Session* find(SessionId id) const;

  // -- handing over to the next daemon

  /// Whether no session is starting, ending or moving: only then can the table be handed over.
  bool settled() const {
    return sessions_.all_in(Session::Stage::running) && moves_.settled() && failures_.settled();
  }
  /// The facts about all sessions that a later daemon needs. Descriptors stay this table's.
  std::vector<HandedSession> handed() const;
  std::uint32_t last_id() const { return last_id_; }
  /// Goes on with a session of the earlier daemon, whose tenant is known; takes its descriptors. On an Error
  /// its worker is killed.
  Result<void> adopt(const HandedSession& handed);
  /// Ended sessions that the earlier daemon knew of.
  void continue_after(std::uint32_t last_id, const std::vector<Kill>& kills);

  // -- interventions of people and programs

  /// Applies the configuration, which was read again, to the sessions as far as possible.
  void apply_configuration();
  /// `fairgv kill`: ends the session as if its worker had died. find() must have found it.
  void end(SessionId id, const std::string& reason);
  /// `fairgv pause` and `resume` of a session that find() has found.
  void set_pause(SessionId id, const std::optional<control::Pause>& pause);
  /// For `fairgv migrate`, `park` and `resume`, of sessions that find() finds.
  Moves& moves() { return moves_; }
  /// No session moves from now on, or, without a reason, sessions may move again.
  void refuse_moves(const std::string& reason) {
    moves_.refuse(reason);
    failures_.refuse(!reason.empty());
    if (reason.empty()) drains_.go_on();
  }
  /// The devices that sessions are to leave.
  Drains& drains() { return drains_; }
  /// Call this after a tenant was paused or resumed.
  void tell_pauses(TenantId tenant) { suspensions_.tell(sessions_, tenant); }
  /// The questions for journals.
  Journals& journals() { return journals_; }
  /// Ends sessions that broke the turn protocol.
  void end_broken();
  /// Kills every worker. The table is empty once no process of theirs is left.
  void end_all(const std::string& reason);
  /// Sets a call that looks at each session once more, before its memory goes.
  void call_before_removal(std::function<void(Session&)> call) {
    departures_.call_before_removal(std::move(call));
  }

  /// The time at which expire() is to be called.
  std::optional<Time> deadline() const;
  /// Ends sessions whose worker does not become ready in time, and goes on with ends that take their time.
  void expire(Time now);

 private:
  Result<void> may_join(const Admission& admission, const session::TenantWish& wish) const;
  Result<void> watch(Session& session);
  Result<void> watch_worker(Session& session);
  Result<void> watch_next_worker(Session& session);
  Result<void> watch_client(Session& session);
  void on_client_message(SessionId id);
  bool answer_question(Session& session);
  void on_worker_message(SessionId id);
  void on_ledger_message(SessionId id);
  bool answer_ledger(Session& session);
  bool answer_all_of_ledger(Session& session);
  bool hear_worker(Session& session);
  void on_worker_text(Session& session, const std::string& text);
  void on_ready(Session& session, const session::WorkerReady& ready);
  void on_long_command(Session& session, const session::LongCommand& command);
  Result<void> admit(Session& session);
  session::Welcome welcome_of(const Session& session) const;
  DispatchedSession dispatched(Session& session) const {
    return dispatched_session(session, needs_.tenancies.registry());
  }
  void on_worker_end(SessionId id);
  void clear_up(Session& session);
  void end(Session& session, const std::string& reason, std::optional<Fault> fault = {}) {
    journals_.forget(session.id, "has ended");
    moves_.forget(session);
    departures_.begin(sessions_, session, reason, fault);
  }
  void end_unheard(Session& session, const Socket& worker);

  const Needs needs_;
  Sessions sessions_;
  WorkerStarter starter_;
  Suspensions suspensions_;
  ProcessorWatch processors_;
  HostWeightWatch host_weights_;
  Journals journals_;
  Departures departures_;
  Moves moves_;
  Drains drains_;
  Failures failures_;
  Reliefs reliefs_;
  Wakes wakes_;
  std::uint32_t last_id_ = 0;
};

}  // namespace fairgv::daemon
