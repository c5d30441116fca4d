#include "runtime/daemon/books/wait_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fairgv::daemon {
namespace {

constexpr auto kFirst = static_cast<std::size_t>(WaitHistogram::kFirstOctave);
constexpr std::size_t kLastBucket = WaitHistogram::kBuckets - 1;

std::size_t bucket_of(std::chrono::nanoseconds wait) {
  const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(wait.count(), 0));
  const auto octave = static_cast<std::size_t>(std::bit_width(length | 1)) - 1;
  if (octave < kFirst) return 0;
  if (octave >= static_cast<std::size_t>(WaitHistogram::kLastOctave)) return kLastBucket;
  const std::size_t quarter = (length >> (octave - 2)) & (WaitHistogram::kPerOctave - 1);
  return 1 + (octave - kFirst) * WaitHistogram::kPerOctave + quarter;
}

/// Where the bucket ends; of the last one, where it begins.
std::chrono::nanoseconds end_of(std::size_t bucket) {
  if (bucket == 0) return std::chrono::nanoseconds(std::int64_t{1} << kFirst);
  if (bucket == kLastBucket) return std::chrono::nanoseconds(std::int64_t{1} << WaitHistogram::kLastOctave);
  const std::size_t octave = kFirst + (bucket - 1) / WaitHistogram::kPerOctave;
  const std::size_t quarters = WaitHistogram::kPerOctave + (bucket - 1) % WaitHistogram::kPerOctave + 1;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(quarters) << (octave - 2));
}

std::int64_t period_number(Waits::Time time) {
  return time.time_since_epoch() / Waits::kWindow;
}

}  // namespace

void WaitHistogram::add(Duration wait) {
  counts_[bucket_of(wait)] += 1;
  count_ += 1;
  sum_ += std::max(wait, Duration(0));
}

WaitHistogram& WaitHistogram::operator+=(const WaitHistogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  return *this;
}

WaitHistogram::Duration WaitHistogram::quantile(double q) const {
  if (count_ == 0) return Duration(0);
  const double rank = std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_));
  const auto wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rank));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += counts_[bucket];
    if (seen >= wanted) return end_of(bucket);
  }
  return end_of(kLastBucket);
}

std::uint64_t WaitHistogram::below(int octave) const {
  const int first = std::clamp(octave, kFirstOctave, kLastOctave) - kFirstOctave;
  const std::size_t end = 1 + static_cast<std::size_t>(first) * kPerOctave;
  std::uint64_t sum = 0;
  for (std::size_t bucket = 0; bucket < end; ++bucket) sum += counts_[bucket];
  return sum;
}

std::vector<std::pair<std::size_t, std::uint64_t>> WaitHistogram::filled() const {
  std::vector<std::pair<std::size_t, std::uint64_t>> list;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (counts_[bucket] > 0) list.emplace_back(bucket, counts_[bucket]);
  }
  return list;
}

bool WaitHistogram::restore(const std::vector<std::pair<std::size_t, std::uint64_t>>& filled, Duration sum) {
  WaitHistogram restored;
  for (const auto& [bucket, count] : filled) {
    if (bucket >= kBuckets) return false;
    restored.counts_[bucket] += count;
    restored.count_ += count;
  }
  restored.sum_ = sum;
  *this = restored;
  return true;
}

void Waits::add(Duration wait, Time now) {
  all_.add(wait);
  const std::int64_t number = period_number(now);
  Period& period = periods_[static_cast<std::size_t>(number % 2)];
  if (period.number != number) period = {number, {}};
  period.waits.add(wait);
}

WaitHistogram Waits::recent(Time now) const {
  const std::int64_t number = period_number(now);
  WaitHistogram sum;
  for (const Period& period : periods_) {
    if (period.number == number || period.number == number - 1) sum += period.waits;
  }
  return sum;
}

}  // namespace fairgv::daemon
