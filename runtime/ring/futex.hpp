// Sleeping on a 32-bit word in shared memory until another process changes it (futex(2)).
//
// These are shared futexes: they work between processes that map the same page. Any thread may call them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace fairgv::ring {

/// Sleeps while `word` holds `expected`, until a wake, a signal, or `timeout` (relative, monotonic clock).
/// Returns at once if the word differs. Wake-ups may be spurious: the caller checks its condition again.
void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                std::optional<std::chrono::nanoseconds> timeout = {});

/// Wakes at most `count` threads, of any process, that sleep on `word`; returns how many woke.
int futex_wake(const std::atomic<uint32_t>& word, int count = std::numeric_limits<int>::max());

}  // namespace fairgv::ring
