// The turn in progress on one device: since when, for how long, and what of it is charged.
//
// Pure logic, time is an argument. Not thread-safe: the dispatcher owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "runtime/daemon/tenants/ids.hpp"
#include "runtime/daemon/turns/place.hpp"
#include "runtime/daemon/turns/turn_log.hpp"
#include "sched/policy.hpp"

namespace fairgv::daemon {

/// A turn in progress, for a dispatcher after this one. Moments are of the system's monotonic clock.
struct TurnBooks {
  sched::Time granted;
  std::optional<sched::Time> contested;  // since when others waited for it
  sched::Duration charged{0};            // so far
  sched::Duration before{0};             // of it, when others began to wait
};

struct TurnInProgress {
  using Time = sched::Time;
  using Duration = sched::Duration;

  /// A turn that was granted to a lone session this short a time ago is left alone, so that its worker can
  /// wake up and use it: else two sessions that come and go could take the turn from each other for ever.
  static constexpr std::chrono::milliseconds kFreshGrant{1};
  /// Part of a slice: how long after its end that of a measured turn is still near. How long before it the
  /// turn may be over says sched::TurnPlan.
  static constexpr int kEndsLaterBy = 20;

  PlaceId place;
  std::optional<Time> ends{};             // when it may be asked back; none: its worker ends it
  std::uint64_t commands;                 // the worker's counter at the grant
  Time wanted;                            // since when its session has waited for it
  Duration slice;                         // that its worker was told
  Time granted;                           // wall time since then is the most that can be charged
  Time charged_until;                     // what was used before then is charged
  Duration charged{0};                    // in this turn
  bool worked = false;                    // its worker has reported use
  std::optional<Time> contested{};        // others wait, or have waited, since then
  Duration before{0};                     // charged by then
  std::optional<Duration> ran{};          // of its worker's process, by then
  bool asked = false;                     // busy_asked
  bool announced = false;                 // to the worker that is likely to be next, that it will be over
  bool taken_back = false;                // not given back by its worker
  bool known_before = false;              // to the dispatcher before this one
  std::optional<Time> obstructs_since{};  // somebody waits since then, without a pause

  /// One that a dispatcher before this one has granted; `books` are that one's, if it knew of it.
  static TurnInProgress adopted(PlaceId id, const session::DeviceTurn& turn, bool asked,
                                const std::optional<TurnBooks>& books, Time now);

  /// Others wait for it from now on, if they did not before; its worker's process `ran` so far.
  void contest(Time now, std::optional<Duration> ran_so_far);
  /// What can still be charged.
  Duration open(Time now) const { return (now - granted) - charged; }
  void note_charge(Duration used, Time now);

  /// Too young to be taken back.
  bool is_fresh(const SessionPlace& its, Time now) const;
  /// The watchdog: somebody waits now, and has done so for longer than the limit (0: none).
  bool outlasts(Duration limit, Time now);

  /// When a measured turn should come to its end by itself.
  struct Window {
    Time from;
    Time until;
  };
  Window end_expected() const;

  TurnBooks books() const { return {granted, contested, charged, before}; }
  TracedTurn traced(Time now, bool over) const;
};

}  // namespace fairgv::daemon
