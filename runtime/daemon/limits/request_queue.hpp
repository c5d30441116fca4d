// The order in which the server's thread answers the requests of users.
//
// Owners take turns, one request each, and an owner has a budget of the thread's time: so much at once, and
// then a part of it. A user who asks without end, over however many connections, waits for the budget; others
// do not. Administrators do not wait here at all.
//
// Requests are named by a key. Memory is bounded by the requests that wait. Pure logic, time is an argument.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "runtime/daemon/limits/token_bucket.hpp"

namespace fairgv::daemon {

class RequestQueue {
 public:
  using Time = TokenBucket::Time;

  /// Of one owner, in seconds of the thread.
  static constexpr TokenBucket::Rate kTimeOfEach{2, 0.5};

  void add(uid_t owner, std::uint64_t key);
  /// Its connection is gone.
  void forget(uid_t owner, std::uint64_t key);

  /// Takes the next request of the owner whose turn it is; nothing if no owner with time left waits.
  std::optional<std::uint64_t> next(Time now);
  /// Counts the time of an answer, or of anything else that was done for this owner.
  void charge(uid_t owner, std::chrono::nanoseconds took, Time now);
  bool has_time(uid_t owner, Time now) const;

  /// When next() has something to give; nothing if nobody waits.
  std::optional<Time> deadline() const;

 private:
  struct Lane {
    TokenBucket time;
    std::deque<std::uint64_t> keys;
  };
  void sweep(Time now);

  std::unordered_map<uid_t, Lane> lanes_;
  std::deque<uid_t> turns_;  // owners of requests that wait, whose turn it is first
};

}  // namespace fairgv::daemon
