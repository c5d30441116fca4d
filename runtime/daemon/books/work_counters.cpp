#include "runtime/daemon/books/work_counters.hpp"

#include <algorithm>

namespace fairgv::daemon {
namespace {

/// In nanoseconds, a hundred days: so that bounds fit 64 bits.
constexpr std::int64_t kLongestTime = 9'000'000'000'000'000;

}  // namespace

WorkCounters& WorkCounters::operator+=(const WorkCounters& other) {
  for (const WorkCounter& counter : kWorkCounters) this->*counter.value += other.*counter.value;
  return *this;
}

const WorkCounters& ClaimedWork::look(const session::DeviceTurn& turn, Time now, std::uint64_t units) {
  const std::chrono::nanoseconds time = now - began_ + kAllowance;
  const auto ns = static_cast<std::uint64_t>(std::clamp<std::int64_t>(time.count(), 0, kLongestTime));
  for (const WorkCounter& counter : kWorkCounters) {
    std::uint64_t& seen = seen_.*counter.value;
    // Relaxed, and read once: shared memory, and no order is needed.
    const std::uint64_t claim =
        counter.claim == nullptr ? units : (turn.*counter.claim).load(std::memory_order_relaxed);
    seen = std::max(seen, std::min(claim, before_.*counter.value + ns * counter.most_per_ns));
  }
  return seen_;
}

}  // namespace fairgv::daemon
