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
/// `groups`, not 0: the groups of sleepers that this thread is in, a bit each.
void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                std::optional<std::chrono::nanoseconds> timeout = {},
                uint32_t groups = std::numeric_limits<uint32_t>::max());

/// Wakes at most `count` threads, of any process, that sleep on `word`; returns how many woke.
int futex_wake(const std::atomic<uint32_t>& word, int count = std::numeric_limits<int>::max());

/// Wakes all threads that sleep on `word` and are in one of the groups; returns how many woke.
int futex_wake_groups(const std::atomic<uint32_t>& word, uint32_t groups);

}  // namespace fairgv::ring
