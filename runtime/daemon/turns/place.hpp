// The places that sessions have at one device's dispatcher: their shared pages, and the dispatcher's own
// facts about them.
//
// Everything in a page is its worker's word: every value is read once, and the dispatcher believes it within
// bounds only. Pure logic beside the shared pages; not thread-safe, the dispatcher owns them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/books/work_counters.hpp"
#include "runtime/daemon/tenants/ids.hpp"
#include "runtime/ring/segment.hpp"
#include "runtime/session/compile_clock.hpp"
#include "runtime/session/turn.hpp"
#include "sched/policy.hpp"

namespace fairgv::daemon {

/// No prediction of a worker counts for more.
inline constexpr sched::Duration kMostPredicted = std::chrono::seconds(10);

/// The processor time that a worker's process has used in its life; nothing if it is gone.
using ProcessorTimer = std::function<std::optional<sched::Duration>()>;
/// Stops a worker's process, or lets it go on. False: there is no such process any more.
using WorkerStop = std::function<bool(bool stop)>;

/// A session's worker as a process. Each may be empty: then its time is not known, it cannot be stopped.
struct WorkerHandle {
  ProcessorTimer ran{};
  WorkerStop stop{};
  /// A direct program: its turns cost the time by the daemon's clock, and none of it is left to its report.
  bool is_program = false;
};

/// `turn` and `header` are the session's, and outlive the place.
struct SessionPlace {
  TenantId tenant;
  session::DeviceTurn* turn = nullptr;
  session::TurnPromise* promise = nullptr;           // none of a session that an earlier release began
  std::optional<session::ResidencyLender> memory{};  // the same
  ring::SegmentHeader* header = nullptr;
  ClaimedWork work{};
  sched::Time waiting_since{};
  bool waiting = false;
  bool user = false;  // has wanted the turn
  bool broken = false;
  bool suspended = false;      // a suspended place never waits
  sched::Duration waited{0};   // for the turn that the place wanted when it was suspended
  std::uint64_t used_ns = 0;   // as last seen
  sched::Duration charged{0};  // in its life
  WorkerHandle worker{};
  std::span<session::DeviceTurn> turns{};  // on all devices of the session
  // MemoryLender's:
  sched::Time turn_ended{};      // its last
  sched::Duration transfers{0};  // its memory was moved for so long, for a turn as of late
  std::uint64_t moving_ns = 0;   // in all, by the end of its last turn
  sched::Time shrinks_since{};   // it was asked to give memory back, or last did so
  sched::Time grows_since{};     // it was lent memory

  session::TurnState state() const;
  /// Whether the session uses the device, as its page says.
  bool is_busy() const;
  /// Whether the session's program waits so often that it is woken with its turns (FairGV, section 3.2.3).
  bool interactive() const;
  /// The reason why the session's next command waits, as its worker says (session/turn_wait.hpp); empty: none
  /// waits.
  const char* waits_for() const;
  /// The worker's compile clock, if it is to be believed.
  session::CompileClock compile_clock() const;
  /// The predicted time of the command for which the session wants the turn, as its worker says; 0: unknown.
  sched::Duration next_cost() const;
  /// The work that its worker and its program claim, as far as it can be believed.
  const WorkCounters& look_at_work(sched::Time now);
  /// How long commands have been under way whose time is not in used_ns yet, as the worker says.
  sched::Duration under_way(sched::Time now) const;

  /// Stops its worker in the midst of its commands. False: that is not possible, or of no use, or would stop
  /// its work on another device.
  bool stand_still() const;
  /// Its worker goes on after so long.
  void let_go(sched::Duration pause) const;
  /// Tells a session that is about to use the device whether others use it.
  void tell_company(bool shared) const;
  /// Makes its worker look at the turn that it was granted.
  void wake() const;
  /// Wakes its worker up, since its turn is near.
  void announce() const;
  /// GPU-centric coscheduling (FairGV, section 3.2.3, algorithms 3 and 4): the threads of an interactive
  /// program wake up together with its worker, so that both run while the session has the device.
  void switch_in() const;
};

/// All places at one dispatcher, also by tenant.
class Places {
 public:
  SessionPlace& add(PlaceId id, SessionPlace place);
  void remove(PlaceId id);

  SessionPlace* find(PlaceId id);
  const SessionPlace* find(PlaceId id) const;
  /// The place must exist.
  SessionPlace& at(PlaceId id) { return places_.at(id); }
  const SessionPlace& at(PlaceId id) const { return places_.at(id); }
  /// The tenant's places.
  const std::vector<PlaceId>& of(TenantId tenant) const;
  bool all_suspended(TenantId tenant) const;
  /// Calls visit(place), or visit(id, place).
  template <class Visit>
  void each(const Visit& visit) {
    for (auto& [id, place] : places_) {
      if constexpr (std::is_invocable_v<Visit, PlaceId, SessionPlace&>) {
        visit(id, place);
      } else {
        visit(place);
      }
    }
  }
  template <class Visit>
  void each(const Visit& visit) const {
    for (const auto& [id, place] : places_) visit(place);
  }

  /// Whether the place counts among those that use the device.
  void count_user(SessionPlace& place, bool user);
  /// Whether several sessions use the device, though perhaps not now: of one tenant, too, since each waits
  /// for the other's launches.
  bool shared() const { return users_ > 1; }

 private:
  std::unordered_map<PlaceId, SessionPlace> places_;
  std::unordered_map<TenantId, std::vector<PlaceId>> by_tenant_;  // of tenants that have any places
  std::ptrdiff_t users_ = 0;                                      // places that have wanted the turn
};

}  // namespace fairgv::daemon
