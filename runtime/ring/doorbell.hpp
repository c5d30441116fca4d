// The hybrid wait: spin for a short, self-tuning time, then sleep; and the bell that ends both.
//
// A Doorbell lives in shared memory and is an eventcount. A thread that makes something true (publishes a
// record, stores a completion) does so first and then calls ring(); a thread that needs it true calls wait()
// with a predicate. While nobody sleeps, ringing is one atomic addition and no system call, and a spinning
// waiter does not touch the bell at all. Any number of threads of any number of processes may ring and wait
// at the same time.
//
// No wake-up is lost. ring() and the arming step of wait() are read-modify-writes of the same word, so one of
// them comes first: if the ring does, arming synchronises with it and the predicate, called after arming,
// sees what was published before the ring; if arming does, the ring sees the flag and wakes. (Fences would do
// the same, but ThreadSanitizer cannot see them.)
//
// A process that scribbles on a bell can keep its own peer asleep or busy, and nothing worse. Code that must
// not depend on the bell's word rings with ring_always().
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "runtime/ring/futex.hpp"

namespace fairgv::ring {

/// An eventcount on a cache line of its own. Bit 0: somebody sleeps or is about to. The rest: rings so far.
struct alignas(64) Doorbell {
  static constexpr uint32_t kSleeper = 1;
  static constexpr uint32_t kOneRing = 2;

  std::atomic<uint32_t> word{0};
};
static_assert(sizeof(Doorbell) == 64);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

/// Wakes every sleeper whether or not the flag says that there is one: a system call each time.
void ring_always(Doorbell& bell);

/// Tells the waiters to look again, but wakes only those who went to sleep on this CPU (as RecordHeader::cpu
/// has it; CPUs that differ by a multiple of 32 count as one).
void ring_on_cpu(Doorbell& bell, uint32_t cpu);

/// Tells the waiters to look again. Call it after publishing; no system call when nobody sleeps.
inline void ring(Doorbell& bell) {
  // Release and acquire: pairs with the arming fetch_or in detail::sleep_until_ready.
  const uint32_t before = bell.word.fetch_add(Doorbell::kOneRing, std::memory_order_acq_rel);
  if ((before & Doorbell::kSleeper) != 0) [[unlikely]] {
    ring_always(bell);
  }
}

/// Lets a thread take over the sleepers' work for a while, so that the bell need not wake them: from here on
/// ringing does not wake threads that sleep already, until stand_down().
inline void stand_in_for_sleepers(Doorbell& bell) {
  bell.word.fetch_and(~Doorbell::kSleeper, std::memory_order_acq_rel);
}

/// Ringing wakes the sleepers again. Afterwards the caller looks once more whether there is work for them,
/// and rings if there is: a ring may have come in vain meanwhile.
inline void stand_down(Doorbell& bell) {
  // Acquire and release: as arming, pairs with the fetch_add in ring().
  bell.word.fetch_or(Doorbell::kSleeper, std::memory_order_acq_rel);
}

/// How long a waiter spins (giving way to other threads that want its core) before it sleeps: learned from
/// how long the waits of its kind took.
///
/// Lives in private memory, one per kind of wait (not per wait). Any thread may use it; the updates are
/// relaxed and may overwrite each other, which costs a little precision and nothing else.
class SpinBudget {
 public:
  static constexpr std::chrono::nanoseconds kShortest{1'000};
  static constexpr std::chrono::nanoseconds kLongest{50'000};

  /// Where the CPUs that waiters run on do the work, spinning longer takes more from it than it saves: just
  /// enough to catch the next of a stream of requests.
  static constexpr std::chrono::nanoseconds kLongestShared{5'000};
  /// While other processors do the work, a waiter takes nothing from it, and being woken costs the waiter 50
  /// to 100 us: a twentieth of a wait for some kernels of 100 us. NVIDIA's driver spins for as long as it
  /// takes; this is most of a turn.
  static constexpr std::chrono::nanoseconds kLongestApart{10'000'000};
  static constexpr int kManyCpus = 4;

  /// Of this process: the CPUs that its threads may use; as many as there can be if the system does not say.
  static int usable_cpus();

  /// Starts at `longest`, and stays zero if `longest` is zero or this process may use only one CPU, where a
  /// spinning waiter keeps off the very thread it waits for. `longest` is at most kLongest.
  explicit SpinBudget(std::chrono::nanoseconds longest = kLongest);

  /// Starts at `longest`, however long that is and however few CPUs this process may use: for a thread that
  /// waits for threads that run on CPUs of their own.
  static SpinBudget of_any_length(std::chrono::nanoseconds longest) { return {longest, Unlimited{}}; }

  /// From now on spins no longer than this, if it spins at all.
  void limit(std::chrono::nanoseconds longest);

  /// From now on may spin for so long, up to kLongestApart, if it spins at all and has many CPUs to do so on.
  void extend(std::chrono::nanoseconds longest, int cpus = usable_cpus());

  /// For waits for a device that has processors of its own (`apart`), or that is the CPUs of this machine.
  void suit(bool apart) { apart ? extend(kLongestApart) : limit(kLongestShared); }

  /// Zero, or between kShortest and the longest.
  std::chrono::nanoseconds current() const {
    return std::chrono::nanoseconds(budget_.load(std::memory_order_relaxed));
  }

  /// The wait ended after `took`, without sleeping or with a nap that spinning on would have saved: moves the
  /// budget towards twice that time.
  void succeeded(std::chrono::nanoseconds took);

  /// The wait, `took` long in all, outlasted what may be spun: halves the budget. A nap that took no longer
  /// than the longest budget counts as succeeded.
  void slept(std::chrono::nanoseconds took);

 private:
  struct Unlimited {};
  SpinBudget(std::chrono::nanoseconds longest, Unlimited)
      : longest_(longest.count()), budget_(longest.count()) {}

  void set(int64_t nanoseconds);
  int64_t longest() const { return longest_.load(std::memory_order_relaxed); }

  // Nanoseconds; relaxed, pair with nothing: hints.
  std::atomic<int64_t> longest_;
  std::atomic<int64_t> budget_;
};

namespace detail {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

inline constexpr int kSpinsPerClockRead = 32;
/// The looks without a pause at the beginning of a wait. A long pause (some 140 cycles on Intel's server
/// cores) takes longer than the whole answer of a peer that is awake.
inline constexpr int kEagerLooks = 64;

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// Lets other threads that want this core go first: the thread that the wait is for may be among them.
inline void give_way() {
  sched_yield();
}

/// Sleeps until the word differs from `armed` or the deadline passed; false if it had passed already.
bool sleep_once(const Doorbell& bell, uint32_t armed, const Deadline& deadline);

/// How a wait ends while both sides are awake.
template <class Ready>
bool look_eagerly(Ready& ready) {
  for (int look = 0; look < kEagerLooks; ++look) {
    if (ready()) return true;
  }
  return false;
}

/// A handful of spins without reading the clock.
template <class Ready>
bool spin_briefly(Ready& ready) {
  for (int spin = 0; spin < kSpinsPerClockRead; ++spin) {
    if (ready()) return true;
    pause();
  }
  return ready();
}

template <class Ready>
bool sleep_until_ready(Doorbell& bell, Ready& ready, const Deadline& deadline) {
  for (;;) {
    // Arm, then look: pairs with the fetch_add in ring(). The flag stays set when the look succeeds, because
    // another waiter may rely on it; that costs the next ring one system call.
    const uint32_t armed =
        bell.word.fetch_or(Doorbell::kSleeper, std::memory_order_acq_rel) | Doorbell::kSleeper;
    if (ready()) return true;
    if (!sleep_once(bell, armed, deadline)) return ready();
  }
}

/// The wait after the brief spin: outlined from wait() so that the hot path stays small.
template <class Ready>
[[gnu::noinline]] bool wait_long(Doorbell& bell, SpinBudget& budget, Ready& ready, const Deadline& deadline) {
  const auto start = std::chrono::steady_clock::now();
  const auto spin = budget.current();
  auto now = start;
  while (now - start < spin && (!deadline || now < *deadline)) {
    const bool done = spin_briefly(ready);
    now = std::chrono::steady_clock::now();
    if (done) {
      budget.succeeded(now - start);
      return true;
    }
    give_way();
  }
  const bool done = sleep_until_ready(bell, ready, deadline);
  budget.slept(std::chrono::steady_clock::now() - start);
  return done;
}

}  // namespace detail

/// Returns true as soon as `ready()` does, or the result of `ready()` once `deadline` has passed. Spins for
/// the budget, then sleeps on the bell. `ready` must be cheap and free of side effects that may not happen
/// twice; everything that can make it true must ring this bell afterwards.
template <class Ready>
bool wait(Doorbell& bell, SpinBudget& budget, Ready&& ready, detail::Deadline deadline = {}) {
  if (ready()) return true;
  if (budget.current() > std::chrono::nanoseconds::zero() &&
      (detail::look_eagerly(ready) || detail::spin_briefly(ready))) {
    return true;
  }
  return detail::wait_long(bell, budget, ready, deadline);
}

}  // namespace fairgv::ring
