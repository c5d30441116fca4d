#include "runtime/ring/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace fairgv::ring {
namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t),
              "the kernel sees the atomic as a plain word");

long futex(const std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout) {
  return ::syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                std::optional<std::chrono::nanoseconds> timeout) {
  if (!timeout) {
    futex(word, FUTEX_WAIT, expected, nullptr);
    return;
  }
  if (*timeout <= std::chrono::nanoseconds::zero()) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*timeout);
  timespec relative{};
  relative.tv_sec = seconds.count();
  relative.tv_nsec = (*timeout - seconds).count();
  futex(word, FUTEX_WAIT, expected, &relative);
}

int futex_wake(const std::atomic<uint32_t>& word, int count) {
  const long woken = futex(word, FUTEX_WAKE, static_cast<uint32_t>(count), nullptr);
  return woken > 0 ? static_cast<int>(woken) : 0;
}

}  // namespace fairgv::ring
