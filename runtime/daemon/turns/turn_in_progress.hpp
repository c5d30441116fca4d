// The turn in progress on one device: its begin, its length, and the part of it that is charged.
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

/// A turn in progress, for a later dispatcher. Moments are of the system's monotonic clock.
struct TurnBooks {
  sched::Time granted;
  std::optional<sched::Time> contested;  // when others began to wait for it
  sched::Duration charged{0};            // so far
  sched::Duration before{0};             // the part from before others began to wait
  bool interrupted = false;              // another session has the device meanwhile (interruption.hpp),
  std::optional<sched::Time> stopped{};  // and since then its worker is stopped
};

struct TurnInProgress {
  using Time = sched::Time;
  using Duration = sched::Duration;

  /// A turn that was granted to a lone session this short a time ago is left alone, so that its worker can
  /// wake up and use it: else two sessions that come and go could take the turn from each other for ever.
  static constexpr std::chrono::milliseconds kFreshGrant{1};
  /// Part of a slice: the time after the end of a measured turn that still counts as near. sched::TurnPlan
  /// says how long before its end the turn may be over.
  static constexpr int kEndsLaterBy = 20;

  PlaceId place;
  std::optional<Time> ends{};       // when the daemon may ask for it back; none: its worker ends it
  std::uint64_t commands;           // the worker's counter at the grant
  Time wanted;                      // when its session began to wait for it
  Duration slice;                   // the slice that its worker was told
  Time granted;                     // later by pauses; wall time since then is the most that can be charged
  Time traced_from;                 // its part that is not in the log yet
  Time charged_until;               // use before then is charged
  Duration charged{0};              // in this turn
  Duration logged{0};               // of it
  bool worked = false;              // its worker has reported use
  std::optional<Time> contested{};  // when others began to wait
  Duration before{0};               // charged by then
  std::optional<Duration> ran{};    // time of its worker's process, by then
  bool must_end = false;            // even if no session waits
  bool asked = false;               // busy_asked
  bool announced = false;           // to the worker that is likely to be next
  bool taken_back = false;          // the daemon took it back, its worker did not give it back
  bool known_before = false;        // to the earlier dispatcher
  bool promised = false;            // it serves a guarantee
  Duration in_flight{0};            // the bound that its worker was told
  std::optional<Time> obstructs_since{};  // when others began to wait without a pause

  /// A turn that an earlier dispatcher has granted; `books` are that dispatcher's, if it knew of the turn.
  static TurnInProgress adopted(PlaceId id, const session::DeviceTurn& turn, bool asked,
                                const std::optional<TurnBooks>& books, Time now);

  /// Others wait for the turn from now on, if they did not before; its worker's process `ran` so far.
  void contest(Time now, std::optional<Duration> ran_so_far);
  /// The time that can still be charged.
  Duration open(Time now) const { return (now - granted) - charged; }
  void note_charge(Duration used, Time now);
  /// The turn stood still for so long.
  void shift(Duration pause);

  /// Whether the turn is too young to be taken back.
  bool is_fresh(const SessionPlace& its, Time now) const;
  /// The watchdog: a session waits now, and has done so for longer than the limit (0: none).
  bool outlasts(Duration limit, Time now);

  /// The time in which a measured turn should end by itself.
  struct Window {
    Time from;
    Time until;
  };
  Window end_expected() const;

  TurnBooks books() const { return {granted, contested, charged, before, false, {}}; }
  TracedTurn traced(Time now, bool over) const;
};

}  // namespace fairgv::daemon
