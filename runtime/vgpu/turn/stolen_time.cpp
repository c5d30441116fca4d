#include "runtime/vgpu/turn/stolen_time.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <string>
#include <utility>

namespace fairgv::vgpu {
namespace {

struct Counts {
  std::uint64_t ran_ns = 0;
  std::uint64_t waited_ns = 0;
  std::uint64_t arrivals = 0;
};

/// The processor time of one thread of this system, by its number (linux/posix-timers_types.h: the number's
/// complement, and flags for "of a thread" and "as the scheduler counts"). schedstat has it, too, but not up
/// to now.
clockid_t cpu_clock_of(pid_t thread) {
  constexpr clockid_t kOfThread = 4;
  constexpr clockid_t kScheduler = 2;
  return static_cast<clockid_t>(~static_cast<std::uint32_t>(thread) << 3) | kOfThread | kScheduler;
}

Duration time_of(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return Duration::zero();
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// A schedstat file: three numbers (Documentation/scheduler/sched-stats.rst). Zeros if the thread has ended.
Counts read_counts(int fd) {
  std::array<char, 96> text{};
  const ssize_t length = ::pread(fd, text.data(), text.size(), 0);
  Counts counts;
  const char* at = text.data();
  const char* const end = at + std::max<ssize_t>(length, 0);
  for (std::uint64_t* number : {&counts.ran_ns, &counts.waited_ns, &counts.arrivals}) {
    const auto [rest, error] = std::from_chars(at, end, *number);
    if (error != std::errc()) return {};
    at = rest + (rest != end ? 1 : 0);
  }
  return counts;
}

/// A clock that counts backwards is of something that has ended: a thread of the driver's.
bool any_has_ended(const StolenTime::Reading& before, const StolenTime::Reading& after) {
  return after.arrivals < before.arrivals || after.ran < before.ran;
}

}  // namespace

StolenTime::StolenTime(std::span<const pid_t> threads, HostSteal host) : host_(std::move(host)) {
  for (const pid_t thread : threads.first(std::min(threads.size(), kMostWatched))) {
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/schedstat";
    UniqueFd counter(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (counter) threads_.push_back({std::move(counter), cpu_clock_of(thread)});
  }
  restart();
}

void StolenTime::rest() {
  read_waiting(from_);
}

void StolenTime::restart(bool rested) {
  if (!rested) rest();
  read_running(from_);
  read_others(from_);
  by_host_ = Duration::zero();
}

Duration StolenTime::so_far(Duration unused) {
  if (threads_.empty()) return Duration::zero();
  Reading now;
  read_running(now);
  // Most turns. Reading the rest takes four times as long, while nobody uses the device.
  if (ran_throughout(from_, now, unused, threads_.size())) return by_host_;
  read_waiting(now);
  read_others(now);
  const Duration more = stalled(from_, now, unused) - by_host_;
  if (more >= kLeastStall) by_host_ += host_.explain(more);
  return between(from_, now, threads_.size()) + by_host_;
}

bool StolenTime::ran_throughout(const Reading& before, const Reading& after, Duration unused,
                                std::size_t threads) {
  if (after.ran < before.ran) return false;  // one has ended
  const Duration under_way = (after.at - before.at) - unused;
  return under_way * static_cast<std::int64_t>(threads) - (after.ran - before.ran) < kWakeUp;
}

Duration StolenTime::stalled(const Reading& before, const Reading& after, Duration unused) {
  if (any_has_ended(before, after)) return Duration::zero();
  const Duration ran_or_waited = (after.worker - before.worker) + (after.waited - before.waited);
  const Duration waking = kWakeUp * static_cast<std::int64_t>(after.arrivals - before.arrivals);
  return std::max((after.at - before.at) - unused - ran_or_waited - waking, Duration::zero());
}

Duration StolenTime::between(const Reading& before, const Reading& after, std::size_t threads) {
  if (any_has_ended(before, after)) return Duration::zero();
  const auto count = static_cast<std::int64_t>(threads);
  const Duration waited = after.waited - before.waited;
  const Duration waking = kWakeUp * static_cast<std::int64_t>(after.arrivals - before.arrivals);
  const Duration not_run = (after.at - before.at) - (after.ran - before.ran) / count;
  return std::clamp((waited - waking) / count, Duration::zero(), std::max(not_run, Duration::zero()));
}

void StolenTime::read_running(Reading& reading) const {
  reading.at = std::chrono::steady_clock::now().time_since_epoch();
  reading.ran = Duration::zero();
  for (const Thread& thread : threads_) reading.ran += time_of(thread.clock);
}

void StolenTime::read_others(Reading& reading) const {
  reading.worker = time_of(CLOCK_PROCESS_CPUTIME_ID);
}

void StolenTime::read_waiting(Reading& reading) const {
  reading.waited = Duration::zero();
  reading.arrivals = 0;
  for (const Thread& thread : threads_) {
    const Counts counts = read_counts(thread.counter.get());
    reading.waited += Duration(static_cast<std::int64_t>(counts.waited_ns));
    reading.arrivals += counts.arrivals;
  }
}

}  // namespace fairgv::vgpu
