// How long sessions waited for a turn: counts by length, in a fixed number of buckets, so that neither the
// cost of a wait nor the memory of a tenant grows.
//
// The buckets are logarithmic, four to an octave: [0, 1024 ns), [1024, 1280), [1280, 1536), [1536, 1792),
// [1792, 2048), [2048, 2560) ... up to 2^40 ns (18 min), and one for all that is longer. A quantile is told
// as the upper end of its bucket, so it is never too small and at most a quarter too large.
//
// Pure logic, not thread-safe; time is an argument.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace fairgv::daemon {

class WaitHistogram {
 public:
  using Duration = std::chrono::nanoseconds;

  static constexpr int kFirstOctave = 10;  // 2^10 ns
  static constexpr int kLastOctave = 40;   // 2^40 ns: what is not shorter is in the last bucket
  static constexpr std::size_t kPerOctave = 4;
  static constexpr std::size_t kBuckets = (kLastOctave - kFirstOctave) * kPerOctave + 2;

  void add(Duration wait);
  WaitHistogram& operator+=(const WaitHistogram& other);

  std::uint64_t count() const { return count_; }
  /// Of all waits.
  Duration sum() const { return sum_; }
  /// The wait that a share `q` (0 to 1) of the waits did not exceed; 0 if there was none. Waits beyond 2^40
  /// ns are not told apart.
  Duration quantile(double q) const;
  /// How many waits were shorter than 2^octave ns; exact from kFirstOctave to kLastOctave.
  std::uint64_t below(int octave) const;

  /// For a hand-over: the buckets that are not empty, by number. restore() replaces what there is; false if
  /// there is no such bucket.
  std::vector<std::pair<std::size_t, std::uint64_t>> filled() const;
  [[nodiscard]] bool restore(const std::vector<std::pair<std::size_t, std::uint64_t>>& filled, Duration sum);

 private:
  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t count_ = 0;
  Duration sum_{0};
};

/// A tenant's waits on one device: in its life, and of late.
class Waits {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = WaitHistogram::Duration;

  /// recent() covers this time and, at most, as long again.
  static constexpr std::chrono::seconds kWindow{30};

  /// A wait that ended now.
  void add(Duration wait, Time now);
  const WaitHistogram& all() const { return all_; }
  void restore(const WaitHistogram& all) { all_ = all; }
  /// The waits that ended during the last 30 to 60 s.
  WaitHistogram recent(Time now) const;

 private:
  struct Period {
    std::int64_t number = -1;  // index of this kWindow in the clock's life
    WaitHistogram waits;
  };

  WaitHistogram all_;
  std::array<Period, 2> periods_;
};

}  // namespace fairgv::daemon
