// Sessions that move: another worker takes the session over, on the same devices or on another, and its
// program notices a pause.
//
// The new worker is started over the session's own memory, and opens its drivers meanwhile. The old one
// writes down what the session has while it runs, and the new one makes that (MoveSteps). Then the old one
// comes to rest and writes the session's image to a memory file, and the new one makes of it what it has not
// yet. What the session holds is charged on its new device before that. Then the new worker takes the old
// one's place in the session: the move is done. If a step fails, the new worker is killed and the old one
// goes on: the move has never happened. If the old one ends, the session ends, as ever.
//
// A session may also be parked: its worker writes the image and goes, the daemon keeps the image, and the
// device memory is free for others. Its program's calls wait in its ring. It goes on by the second half of a
// move.
//
// Used by the server's thread only. The constructor's arguments outlive it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/daemon/books/kill_book.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/dispatch/dispatch_loop.hpp"
#include "runtime/daemon/limits/user_log.hpp"
#include "runtime/daemon/moves/image_store.hpp"
#include "runtime/daemon/moves/move_steps.hpp"
#include "runtime/daemon/moves/outcome.hpp"
#include "runtime/daemon/moves/retired_workers.hpp"
#include "runtime/daemon/oversell/markets.hpp"
#include "runtime/daemon/service/disk_work.hpp"
#include "runtime/daemon/service/event_loop.hpp"
#include "runtime/daemon/sessions/device_keeper.hpp"
#include "runtime/daemon/sessions/sessions.hpp"
#include "runtime/daemon/sessions/tenancies.hpp"
#include "runtime/daemon/sessions/worker_starter.hpp"

namespace fairgv::daemon {

/// The source of a session that is restored. `fits` says, while the session rests, whether it can be.
struct Restored {
  UniqueFd image{};
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> holdings{};  // as in ParkedSession
  UniqueFd contents{};                    // of its completion slots and its arena
  std::function<Result<void>(const Session&)> fits{};
};

class Moves {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Done = std::function<void(const MoveOutcome&)>;

  /// Sessions that move at the same time. Each has a second worker meanwhile.
  static constexpr std::size_t kMost = 4;
  /// How long the new worker may take to make the session again.
  static constexpr std::chrono::seconds kMakingPatience{60};

  struct Needs {
    const Config& config;
    EventLoop& events;
    DispatchLoop& dispatch;
    Tenancies& tenancies;
    DeviceKeeper& devices;
    Markets& markets;
    const WorkerStarter& starter;
    UserLog& log;
    const Sessions& sessions;
  };
  /// The part of a move that is the owner's of the sessions.
  struct Hooks {
    /// Answers everything that the worker has asked about memory so far. False: the session ends.
    std::function<bool(Session&)> answer_ledger;
    /// The session has another worker, which is to be heard from now on, or none, when it is parked.
    std::function<Result<void>(Session&)> change_worker;
    std::function<void(Session&, const std::string& reason, std::optional<Fault>)> end;
    /// The session's worker cannot be told that it is to go on: the session ends, now or with the worker.
    std::function<void(Session&)> unheard;
  };
  Moves(const Needs& needs, Hooks hooks)
      : needs_(needs),
        hooks_(std::move(hooks)),
        retired_(needs.events),
        work_(needs.events),
        images_(needs.config, needs.events, needs.sessions) {}

  /// Moves a running session to this device of its worker's; none: it stays where it is and gets another
  /// worker. Calls `done` later; or an Error at once. `by_force`: though its program could tell the devices
  /// apart.
  Result<void> begin(Session& session, std::optional<std::uint32_t> to, Done done, bool by_force = false);
  /// The same to where `map` has its program's devices.
  Result<void> begin_on(Session& session, DeviceMap map, Done done);
  /// Parks a running session, or lets a parked one go on; calls `done` later, or returns an Error at once. A
  /// session that cannot go on stays parked.
  Result<void> park(Session& session, const Parking& how, Done done);
  Result<void> unpark(Session& session, Done done);
  /// Brings a running session to rest and calls `rested` with its image, then or never; it rests until
  /// end_rest(), or until that is too late. `done` is called in any case, unless an Error is returned at
  /// once.
  using Rested = std::function<void(Session&, const UniqueFd& image, std::uint64_t bytes)>;
  Result<void> rest(Session& session, Rested rested, Done done);
  /// An Error if it does not rest any more.
  Result<void> end_rest(Session& session);
  /// Gives the session, which may be parked, another worker with this image in the place of its own, and its
  /// shared memory these contents.
  Result<void> restore(Session& session, Restored from, Done done);
  /// No move begins from now on, and those under way fail, unless `reason` is empty.
  void refuse(const std::string& reason);

  /// The session's worker speaks about a move. False if nobody has asked it.
  bool hear(Session& session, const session::WorkerMessage& message);
  /// Whether the session's worker has come to rest, and has nothing to ask.
  bool rests(const Session& session) const;
  /// The session ends.
  void forget(Session& session);

  /// Whether a session can be asked to move now; else it is worth asking again when another has moved.
  bool may_ask(const Session& session) const { return !session.moving && under_way_.size() < kMost; }
  /// Whether nothing moves, and no earlier worker is left.
  bool settled() const { return under_way_.empty() && retired_.empty(); }
  /// Whether anything is left of other workers of the session than its own.
  bool has_others(const Session& session) const { return retired_.any_of(session.id); }

  /// The time at which expire() is to be called.
  std::optional<Time> deadline() const;
  void expire(Time now);

 private:
  /// Others than the two workers have something to do for the move.
  struct Wait {
    Time until{};
    std::string what{};              // has not happened, if it is too late
    std::function<void()> forget{};  // they need not do it any more
  };
  struct Move {
    MoveSteps steps;
    WorkerStarter::Successor worker;        // none of a session that is to be parked
    std::optional<ProcessorClock> clock{};  // the new worker's
    DeviceMap map{};                        // where its program's devices are to lie
    Done done;
    MoveOutcome outcome;
    std::optional<Parking> parks{};  // none: it is not to be parked
    UniqueFd image{};                // the latest: of a copy ahead, or the last one
    std::uint64_t image_bytes = 0;   // of it
    Rested rested{};                 // none: it is not to rest
    std::optional<Restored> restored{};
    bool is_changed = false;  // what its old worker would go on with
    std::optional<Wait> wait{};
    std::optional<MemoryBook::Move> charged{};
    EventLoop::Watch channel_watch{};
    EventLoop::Watch process_watch{};
  };

  Result<void> may_begin(const Session& session) const;
  Move& add(Session& session, Move move);
  Result<void> begin_with_worker(Session& session, DeviceMap map, Done done);
  Result<DeviceMap::Pairs> pairs_for(const Session& session, std::uint32_t to) const;
  Result<void> watch(SessionId id, Move& move);
  void on_message(SessionId id);
  bool hear_new(SessionId id);
  void on_end(SessionId id);
  void go_on(Session& session, Move& move, const Result<MoveSteps::Due>& due);
  Result<void> check_ready(const Session& session, const session::WorkerMessage& message) const;
  static Result<void> make_image_file(Move& move);
  Result<void> order_copy(Session& session, Move& move);
  Result<void> order_image(Session& session, Move& move);
  Result<void> take_image(Session& session, Move& move);
  Result<void> charge_target(Session& session, Move& move);
  Result<void> send_image(Session& session, Move& move, bool ahead);
  Result<void> order_made(Session& session, Move& move, bool ahead);
  void store_image(Session& session, Move& move);
  void on_stored(SessionId id, Result<UniqueFd> file);
  void keep_image(Session& session, Move& move);
  void hand_out(Session& session, Move& move);
  Result<MemoryBook::Move> charge(const Session& session, const Move& move);
  void put_back(Session& session, Move& move);
  void on_put_back(SessionId id, const Result<void>& result);
  Time deadline_of(const Move& move) const { return move.wait ? move.wait->until : move.steps.deadline(); }
  std::string too_late(const Move& move) const;
  void commit(Session& session, Move& move);
  void settle_market(TenantId tenant);
  void fail(Session& session, const std::string& reason);
  void give_up(Session& session, Move move, const std::string& reason);
  void retire(const Session& session, WorkerStarter::Successor worker, std::vector<std::uint64_t> held = {});

  const Needs needs_;
  const Hooks hooks_;
  std::map<SessionId, Move> under_way_;
  /// The number of the latest order to copy ahead. A worker may still answer an order of the daemon before
  /// this one, which had other numbers.
  std::uint64_t copies_ordered_ =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  std::string refused_;  // why nothing moves; empty: it does
  RetiredWorkers retired_;
  DiskWork work_;
  ImageStore images_;
};

}  // namespace fairgv::daemon
