#include "runtime/ring/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace fairgv::ring {
namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t),
              "the kernel sees the atomic as a plain word");

long futex(const std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout,
           uint32_t groups) {
  return ::syscall(SYS_futex, &word, operation, value, timeout, nullptr, groups);
}

/// The moment that is `from_now` from now, on the clock that FUTEX_WAIT_BITSET counts by.
timespec monotonic(std::chrono::nanoseconds from_now) {
  const auto at = std::chrono::steady_clock::now().time_since_epoch() + from_now;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
  timespec moment{};
  moment.tv_sec = seconds.count();
  moment.tv_nsec = (at - seconds).count();
  return moment;
}

}  // namespace

void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                std::optional<std::chrono::nanoseconds> timeout, uint32_t groups) {
  if (!timeout) {
    futex(word, FUTEX_WAIT_BITSET, expected, nullptr, groups);
    return;
  }
  if (*timeout <= std::chrono::nanoseconds::zero()) return;
  const timespec until = monotonic(*timeout);
  futex(word, FUTEX_WAIT_BITSET, expected, &until, groups);
}

int futex_wake(const std::atomic<uint32_t>& word, int count) {
  const long woken = futex(word, FUTEX_WAKE, static_cast<uint32_t>(count), nullptr, 0);
  return woken > 0 ? static_cast<int>(woken) : 0;
}

int futex_wake_groups(const std::atomic<uint32_t>& word, uint32_t groups) {
  constexpr auto kAll = static_cast<uint32_t>(std::numeric_limits<int>::max());
  const long woken = futex(word, FUTEX_WAKE_BITSET, kAll, nullptr, groups);
  return woken > 0 ? static_cast<int>(woken) : 0;
}

}  // namespace fairgv::ring
