// Lends one device's memory to the sessions whose turns come next, where all of them together may have more
// than there is ([device] oversubscribe): the session whose turn is farthest away gives its memory back
// first.
//
//   a turn begins ──▶ memory of the session that is next comes in, as far as there is room behind those that
//                     have the turn ──▶ the turn ends ──▶ the rest comes in, while that of the session before
//                     goes out ──▶ the next turn begins
//
// - Turns grow with the time for which memory comes in for them and goes out again, up to a bound, until that
// is
//   a tenth of them at most.
// - One session at a time gives back and one takes: a link moves large pieces, one after the other each way.
// - With `on_demand`, for comparison, nothing of that is done: memory comes in for the next command only, in
//   the turn of its session, the session that has had its turn longest ago gives back first, and turns are as
//   long as ever.
//
// Memory that cannot go out (images, objects that a driver has made something of) counts for its session up
// to half of the device: a worker that lied about it would keep no more from others.
//
// Workers speak by their pages (session/memory/residency.hpp). One that does not give back within the hold
// limit counts as broken, and so does one whose memory does not come in though there is room.
//
// Pure logic beside the shared pages; time is an argument. Not thread-safe: the arbiter owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "runtime/daemon/tenants/ids.hpp"
#include "runtime/daemon/turns/place.hpp"
#include "sched/types.hpp"

namespace fairgv::daemon {

/// How a device's memory is lent.
struct LendingRule {
  std::uint64_t capacity = 0;  // bytes that there are; 0: it is not lent
  bool on_demand = false;
  sched::Duration longest_turn = std::chrono::seconds(2);
  std::uint64_t link = 0;  // bytes per second of a simulated link; 0: none

  bool operator==(const LendingRule&) const = default;
};

class MemoryLender {
 public:
  using Time = sched::Time;
  using Duration = sched::Duration;

  /// A turn lasts at least so many times as long as its memory takes to come in and to go out.
  static constexpr int kTurnPerTransfer = 10;

  const LendingRule& rule() const { return rule_; }
  bool is_on() const { return rule_.capacity != 0; }
  /// Sessions that are there are told.
  void set_rule(const LendingRule& rule, Places& places);

  /// A session begins, or goes on with another worker.
  void begin(SessionPlace& place) const;
  /// Goes on where an earlier dispatcher has left it.
  void adopt(SessionPlace& place) const;

  /// Orders sessions by their next turns: whether the first of two has its turn later.
  using IsLater = std::function<bool(const SessionPlace&, const SessionPlace&)>;

  /// Has the memory come in that the session wants, as far as it is not there; the sessions `keep` keeps true
  /// for give nothing back. Looks at all pages.
  void lend_to(SessionPlace& place, Places& places, const std::function<bool(const SessionPlace&)>& keep,
               const IsLater& is_later, Time now);
  /// Whether it may have its turn.
  static bool is_ready(SessionPlace& place);

  /// The device waits for a session's memory.
  void waits_for(Time now) {
    if (!waits_since_) waits_since_ = now;
  }
  bool waits() const { return waits_since_.has_value(); }
  /// Whether memory that the device waits for could have come in long ago.
  bool is_late(const SessionPlace& place, Duration limit, Time now) const;
  /// It gets its turn, and keeps what it has.
  void grant(SessionPlace& place, bool others_wait_for_memory, const Places& places);
  /// The turn is over.
  static void end(SessionPlace& place, Time now);

  /// The length of a turn that would be `usual`.
  Duration slice(Duration usual, const Places& places) const;

  /// Of sessions that do not do as they should: why, behind "the worker ".
  static const char* fault_of(const SessionPlace& place, Duration limit, Time now);

 private:
  void ask(SessionPlace& place, std::uint64_t bytes, Time now) const;
  std::uint64_t most_for(const SessionPlace& place, const Places& places) const;
  Duration longest_wait(const Places& places) const;

  LendingRule rule_;
  std::optional<Time> waits_since_;
};

}  // namespace fairgv::daemon
