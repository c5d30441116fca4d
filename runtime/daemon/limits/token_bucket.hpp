// How much of something may be taken over time: as much as has come in since, and never more than a bucketful
// at once. Pure logic, time is an argument.
#pragma once

#include <algorithm>
#include <chrono>

namespace fairgv::daemon {

class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Rate {
    double burst;       // that a full bucket holds
    double per_second;  // that comes in
  };

  /// A full one.
  TokenBucket(const Rate& rate, Time now) : tokens_(rate.burst), at_(now) {}

  /// Negative after more was taken than there was.
  double level(const Rate& rate, Time now) const {
    const double since = std::chrono::duration<double>(std::max(now, at_) - at_).count();
    return std::min(rate.burst, tokens_ + since * rate.per_second);
  }
  void take(double tokens, const Rate& rate, Time now) {
    tokens_ = level(rate, now) - tokens;
    at_ = std::max(now, at_);
  }
  /// Takes one if there is one; whether there was.
  bool take_one(const Rate& rate, Time now) {
    if (level(rate, now) < 1) return false;
    take(1, rate, now);
    return true;
  }
  bool is_full(const Rate& rate, Time now) const { return level(rate, now) >= rate.burst; }
  /// When so much is in it, if nothing is taken; in the past if it is now.
  Time reaches(double tokens, const Rate& rate) const {
    const std::chrono::duration<double> wait(std::max(0.0, (tokens - tokens_) / rate.per_second));
    return at_ + std::chrono::ceil<std::chrono::steady_clock::duration>(wait);
  }

 private:
  double tokens_;
  Time at_;
};

}  // namespace fairgv::daemon
