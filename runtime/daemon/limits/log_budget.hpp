// How many lines of the daemon's log one user can cause: so many at once and so many a second, and all users
// together some more. Lines beyond it are counted and left out, and one line says how many.
//
// A user who has run dry is left out until a part of the budget has come in again: a flood then shows a row
// of whole lines now and then, and not one in a thousand. An administrator's lines are never left out. Memory
// is bounded, however many users there are. Pure logic, time is an argument.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/daemon/limits/account.hpp"
#include "runtime/daemon/limits/token_bucket.hpp"

namespace fairgv::daemon {

class LogBudget {
 public:
  using Time = TokenBucket::Time;

  static constexpr TokenBucket::Rate kOfEach{120, 1};
  static constexpr TokenBucket::Rate kOfAll{1'200, 10};
  /// The part of a bucketful that has to come in before lines are written again.
  static constexpr double kResumesAt = 0.25;
  /// Users who are counted one by one; beyond it, all others are one.
  static constexpr std::size_t kMostOwners = 4'096;

  /// Whether a line that is on this account is to be written. Counts it either way.
  bool take(const Account& account, Time now);

  struct LeftOut {
    std::optional<uid_t> owner;  // none: of several users
    std::uint64_t lines = 0;
  };
  /// Lines that were left out, of users whose lines are written again from now on.
  std::vector<LeftOut> take_left_out(Time now);
  /// When there is something to take.
  std::optional<Time> deadline() const;

 private:
  struct Purse {
    TokenBucket bucket;
    std::uint64_t left_out = 0;  // since it ran dry; 0: it has not
  };
  bool take_from(Purse& purse, const TokenBucket::Rate& rate, Time now);
  static bool resumes(const Purse& purse, const TokenBucket::Rate& rate, Time now);
  static Time resumes_at(const Purse& purse, const TokenBucket::Rate& rate);
  Purse& purse_of(uid_t owner, Time now);

  std::unordered_map<uid_t, Purse> purses_;
  Purse others_{{kOfEach, {}}};  // of those beyond kMostOwners
  Purse all_{{kOfAll, {}}};
  std::size_t dry_ = 0;  // of all of them
  Time next_sweep_{};
};

}  // namespace fairgv::daemon
