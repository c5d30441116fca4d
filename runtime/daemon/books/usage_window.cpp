#include "runtime/daemon/books/usage_window.hpp"

#include <algorithm>

namespace fairgv::daemon {
namespace {

constexpr std::chrono::nanoseconds kLength = UsageWindow::kBucket;

std::int64_t bucket_number(UsageWindow::Time time) {
  return time.time_since_epoch() / kLength;
}

UsageWindow::Time bucket_start(std::int64_t number) {
  return UsageWindow::Time(kLength * number);
}

}  // namespace

void UsageWindow::add(Time from, Time to, Duration used) {
  const Duration whole = std::max<Duration>(to - from, Duration(1));
  const std::int64_t last = bucket_number(to);
  for (std::int64_t number = std::max(bucket_number(from), last - kBuckets + 1); number <= last; ++number) {
    const Time start = std::max(from, bucket_start(number));
    const Time end = std::min(to, bucket_start(number + 1));
    const double part =
        from == to ? 1.0 : static_cast<double>((end - start).count()) / static_cast<double>(whole.count());
    Bucket& bucket = buckets_[static_cast<std::size_t>(number % kBuckets)];
    if (bucket.number != number) bucket = {number, Duration(0)};
    bucket.used += Duration(static_cast<std::int64_t>(part * static_cast<double>(used.count())));
  }
}

UsageWindow::Duration UsageWindow::within(Time now) const {
  const std::int64_t last = bucket_number(now);
  Duration sum{0};
  for (const Bucket& bucket : buckets_) {
    if (bucket.number > last - kBuckets && bucket.number <= last) sum += bucket.used;
  }
  return sum;
}

}  // namespace fairgv::daemon
