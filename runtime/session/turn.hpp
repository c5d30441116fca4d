// The turn page: how the dispatcher (fairgvd) and one worker agree on who may use a device now.
//
// One sealed memfd per session, mapped by the daemon and by the session's worker only; one DeviceTurn per
// device, at the device's index in the worker's topology. No locks: `state` is a small state machine whose
// every transition belongs to one side, by store where the other side cannot move and by compare-and-swap
// where both can. The transitions are the verbs of WorkerTurn and DispatcherTurn below;
// tests/unit/session/turn_model_test.cpp goes through every order in which both sides can make them.
//
//                        worker: has commands            dispatcher: grants
//               idle ───────────────────────▶ wanting ───────────────────────▶ held
//                ▲ ▲                             ▲                             │  ▲
//   dispatcher:  │ │ worker: turn over,          │ worker: turn over,  worker: │  │ worker: drained,
//   takes back   │ │ nothing left                │ more to do           issues │  │ nobody asked
//   an unused    │ └───────────────┬─────────────┘                             ▼  │
//   turn (CAS)   │                 └──────────────────────────── busy, busy_asked─┘ (from busy only, CAS)
//                └── from held                     dispatcher: busy ─▶ busy_asked (CAS): give it back soon
//
// - A worker issues commands only in busy or busy_asked. In `held` it has the turn but uses nothing: a lone
//   tenant stays held between its commands, so that it pays nothing for the scheduler.
// - `slice_ns`, written before the grant: 0 = nobody else waits, or the turn ends by the clock: run freely,
//   measure nothing. Otherwise give the turn back when that much device time is used, or when there is
//   nothing to issue after a short spin.
// - busy_asked: somebody else is to have the device (a newcomer beside a lone session, or one whom the policy
//   prefers); stop issuing, drain, give back.
// - When the worker gives back (to idle or wanting) and when it starts wanting, it knocks on the session's
//   eventfd (knock()). The dispatcher answers a grant by ringing the session's worker_bell.
// - `used_ns` is cumulative device time, stored before the transition that ends a turn, and now and then
//   while it lasts. Time that may turn out not to be the session's is left out: nothing is ever taken back.
//
// The daemon trusts nothing here: a state that the protocol does not allow ends the session; used_ns is read
// once, must not go backwards, and is capped by the wall time of the turn.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/session/memory/residency.hpp"
#include "runtime/session/trace.hpp"
#include "runtime/session/turn_wait.hpp"
#include "sched/sampling.hpp"

namespace fairgv::session {

enum class TurnState : std::uint32_t { idle = 0, wanting = 1, held = 2, busy = 3, busy_asked = 4 };

struct alignas(64) DeviceTurn {
  std::atomic<std::uint32_t> state{0};  // TurnState; release on every transition, acquire on every look
  // Worker writes: 0, or, if the program is CPU-GPU interactive, 1 + the CPU that its latest command came
  // from: its threads there are woken when it is switched in (FairGV, section 3.2.3). A hint, relaxed.
  std::atomic<std::uint32_t> interactive_cpu{0};
  std::atomic<std::uint64_t> slice_ns{0};  // dispatcher writes, ordered by `state` becoming held
  std::atomic<std::uint64_t> used_ns{0};  // worker writes, ordered by `state` leaving busy; relaxed otherwise
  // Dispatcher writes: not 0 if other sessions use the device, too, though perhaps not now: launches longer
  // than a slice are then cut also in turns of slice 0. A hint, relaxed.
  std::atomic<std::uint32_t> company{0};
  // Daemon writes: not 0 while commands are to be recorded (session/trace.hpp); each trace has a number of
  // its own. A hint, relaxed.
  std::atomic<std::uint32_t> tracing{0};
  // Daemon writes: work-groups of the smallest part of a launch, or 0: what the worker was started with. A
  // hint, relaxed.
  std::atomic<std::uint64_t> slicing_floor{0};
  // Dispatcher counts up shortly before it is likely to grant this session the turn that it wants: be awake.
  // A hint, relaxed; it rings the worker_bell.
  std::atomic<std::uint32_t> due{0};
  // Dispatcher writes, ordered by `state` becoming held: how many commands a turn of slice 0 may have in
  // flight, however long they are; 0: about as many as fill a slice.
  std::atomic<std::uint32_t> depth{0};
  // Worker writes: since when commands have been under way whose time is not in used_ns yet, in nanoseconds
  // of CLOCK_MONOTONIC, or 0; in turns of slice 0 only. Charged if the session ends before they do, and
  // believed within the turn. Relaxed.
  std::atomic<std::uint64_t> under_way_since_ns{0};
  // Worker writes: its CompileClock. Believed where that makes use dearer, and for one processor's worth of
  // it (daemon/books/processor_use.hpp). Relaxed.
  std::atomic<std::uint32_t> compile_clock{0};
  // Worker writes: why its next command is not given to the driver (TurnWait). For people; a hint, relaxed.
  std::atomic<std::uint32_t> waits_for{0};

  // Statistics, on a line of their own: the worker counts in its own memory and writes them here, relaxed; it
  // reads them only as it begins, when another worker may have counted before it. The daemon believes them
  // within bounds only (daemon/books/work_counters.hpp).
  alignas(64) std::atomic<std::uint64_t> commands{0};  // that ended on the device
  std::atomic<std::uint64_t> launches{0};              // kernel launches among them
  std::atomic<std::uint64_t> syncs{0};                 // synchronisations made for accounting
  std::atomic<std::uint64_t> samples{0};               // commands that were measured one by one
  // The cross-check of accounting: time measured over runs all of whose commands had event timestamps, and
  // from the first start to the last end in each of these runs by the device's own clock. Reported, not
  // charged: a program that asks for timestamps would save the time between issuing and starting.
  std::atomic<std::uint64_t> checked_ns{0};
  std::atomic<std::uint64_t> by_events_ns{0};
  std::atomic<std::uint64_t> slices{0};  // parts that launches were cut into and that ended
  std::atomic<std::uint64_t> bytes{0};   // that reads, writes, copies and fills of commands were to move
};
static_assert(sizeof(DeviceTurn) == 128);

inline constexpr std::uint32_t kMaxDevices = 63;

struct TurnPage {
  DeviceTurn devices[kMaxDevices];
};

/// More of one device's turn, behind the traces in the file, since the page has no room left. A worker or a
/// daemon of an earlier release does without.
struct alignas(64) TurnPromise {
  // Dispatcher writes, ordered by `state` becoming held: the most device time in flight, as predicted, in
  // nanoseconds, but at least two commands; 0: no bound.
  std::atomic<std::uint64_t> in_flight_ns{0};
  // The same: no command that is predicted to take longer begins in this turn; 0: none is too long.
  std::atomic<std::uint64_t> cost_limit_ns{0};
  // The same: not 0 if a turn of slice 0 is given back when there is nothing to issue after a short spin.
  std::atomic<std::uint32_t> gives_back{0};
  // Worker writes, before its state becomes wanting: the predicted time of the command for which it wants the
  // turn, in nanoseconds; 0: unknown. The dispatcher believes it within bounds only. Relaxed.
  std::atomic<std::uint64_t> next_cost_ns{0};
  // Dispatcher writes: for how long it has stopped the worker in turns so far, in nanoseconds. Stored before
  // the worker goes on, by which it is ordered; relaxed.
  std::atomic<std::uint64_t> paused_ns{0};
  // Daemon writes: which ends the worker counts as units of service (session/service_unit.hpp); 0: none. A
  // hint, relaxed.
  std::atomic<std::uint64_t> counted{0};
  // Worker writes: how many of them there were, before their ends are seen. Relaxed; it never goes down, and
  // the daemon believes it within bounds (daemon/books/work_counters.hpp).
  std::atomic<std::uint64_t> units{0};
  // Dispatcher writes, ordered by `state` becoming held: which commands are measured one by one
  // (sched::Sampling).
  std::atomic<std::uint32_t> sampling{0};
  // Daemon writes, before the program hears of the session: not 0 if the program may not use the device.
  // Relaxed: the program's first call comes after the daemon's welcome.
  std::atomic<std::uint32_t> hidden{0};
};
static_assert(sizeof(TurnPromise) == 64);

struct TurnPromises {
  TurnPromise devices[kMaxDevices];
};

/// How much of each device's memory the session has, behind the promises in the file.
struct Residencies {
  DeviceResidency devices[kMaxDevices];
};

namespace detail {

/// Moves the state if it still is what was seen. Release: the other side's acquiring look sees earlier
/// writes. Acquire on both outcomes: pairs with the other side's release.
inline bool move_turn(std::atomic<std::uint32_t>& state, TurnState from, TurnState to) {
  auto expected = static_cast<std::uint32_t>(from);
  return state.compare_exchange_strong(expected, static_cast<std::uint32_t>(to), std::memory_order_acq_rel,
                                       std::memory_order_acquire);
}

}  // namespace detail

/// The worker's moves. Only its session's worker makes them, and one thread of it at a time.
class WorkerTurn {
 public:
  explicit WorkerTurn(DeviceTurn& turn) : turn_(turn) {}

  TurnState look() const {
    // Acquire: pairs with the dispatcher's releases; the terms are seen with `held`.
    return static_cast<TurnState>(turn_.state.load(std::memory_order_acquire));
  }

  /// From idle, which only this side leaves: there are commands. Knock afterwards.
  void want() { store(TurnState::wanting); }

  /// From held: commands are about to be issued. False if the dispatcher has taken the unused turn back.
  bool begin() { return move(TurnState::held, TurnState::busy); }

  /// From busy: nothing is under way or ready, and the turn is kept. False if it has been asked for.
  bool rest() { return move(TurnState::busy, TurnState::held); }

  /// From busy or busy_asked: nothing is under way, and used_ns is final. Knock afterwards. A store is
  /// enough: from busy the dispatcher only ever moves to busy_asked, which this overtakes.
  void give_back(bool wants_more) { store(wants_more ? TurnState::wanting : TurnState::idle); }

 private:
  void store(TurnState to) {
    // Release: pairs with the dispatcher's acquire; earlier writes are seen with the state.
    turn_.state.store(static_cast<std::uint32_t>(to), std::memory_order_release);
  }
  bool move(TurnState from, TurnState to) { return detail::move_turn(turn_.state, from, to); }

  DeviceTurn& turn_;
};

/// How the device may be used in a turn; see slice_ns, depth and TurnPromise above.
struct TurnTerms {
  std::chrono::nanoseconds slice{0};
  std::uint32_t depth = 0;
  std::chrono::nanoseconds in_flight{0};
  std::chrono::nanoseconds cost_limit{0};
  bool gives_back = false;
  sched::Sampling sampling = sched::Sampling::history;
};

/// The dispatcher's moves. A look may find a state that is not in the protocol: workers write to the page.
class DispatcherTurn {
 public:
  /// promise: null if the session's file has none.
  explicit DispatcherTurn(DeviceTurn& turn, TurnPromise* promise = nullptr)
      : turn_(turn), promise_(promise) {}

  TurnState look() const {
    // Acquire: pairs with the worker's releases; used_ns is seen with the end of a turn.
    return static_cast<TurnState>(turn_.state.load(std::memory_order_acquire));
  }

  /// From wanting. False if the worker has withdrawn its wish, which breaks the protocol. Ring the
  /// worker_bell afterwards.
  bool grant(const TurnTerms& terms) {
    // Relaxed: ordered by the state.
    turn_.slice_ns.store(static_cast<std::uint64_t>(terms.slice.count()), std::memory_order_relaxed);
    turn_.depth.store(terms.depth, std::memory_order_relaxed);
    if (promise_ != nullptr) {
      promise_->in_flight_ns.store(static_cast<std::uint64_t>(terms.in_flight.count()),
                                   std::memory_order_relaxed);
      promise_->cost_limit_ns.store(static_cast<std::uint64_t>(terms.cost_limit.count()),
                                    std::memory_order_relaxed);
      promise_->gives_back.store(terms.gives_back ? 1 : 0, std::memory_order_relaxed);
      promise_->sampling.store(static_cast<std::uint32_t>(terms.sampling), std::memory_order_relaxed);
    }
    return detail::move_turn(turn_.state, TurnState::wanting, TurnState::held);
  }

  /// From busy: another session is to have the device. False if the worker has just given it back, or rests.
  bool ask() { return detail::move_turn(turn_.state, TurnState::busy, TurnState::busy_asked); }

  /// From held. False if the worker has just begun to use it.
  bool take_back() { return detail::move_turn(turn_.state, TurnState::held, TurnState::idle); }

 private:
  DeviceTurn& turn_;
  TurnPromise* promise_;
};

/// A worker knocks: "look at my turn". False if it must try again. The dispatcher hears every write to the
/// session's eventfd as an edge and never reads it: the worker shares the open file, so it decides whether a
/// read blocks. Adding 1 each time, the counter does not fill up.
bool knock(int event);

/// A turn page's memory: created by the daemon, attached by the worker from the inherited descriptor.
class TurnMemory {
 public:
  static Result<TurnMemory> create();
  static Result<TurnMemory> attach(UniqueFd fd);

  int fd() const { return fd_.get(); }
  TurnPage& page() { return *static_cast<TurnPage*>(static_cast<void*>(mapping_.data())); }
  /// None in an older daemon's file.
  std::optional<TraceMemory> trace();
  /// Null in an older daemon's file.
  TurnPromises* promises();
  /// The same.
  Residencies* residencies();

 private:
  TurnMemory(UniqueFd fd, Mapping mapping) : fd_(std::move(fd)), mapping_(std::move(mapping)) {}
  UniqueFd fd_;
  Mapping mapping_;
};

}  // namespace fairgv::session
