#include "runtime/vgpu/stolen_time.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <string>

namespace fairgv::vgpu {
namespace {

struct Counts {
  std::uint64_t ran_ns = 0;
  std::uint64_t waited_ns = 0;
  std::uint64_t arrivals = 0;
};

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

}  // namespace

StolenTime::StolenTime(std::span<const pid_t> threads, pid_t client) {
  for (const pid_t thread : threads.first(std::min(threads.size(), kMostWatched))) {
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/schedstat";
    ring::UniqueFd counter(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (counter) counters_.push_back(std::move(counter));
  }
  clockid_t clock{};
  if (client > 0 && ::clock_getcpuclockid(client, &clock) == 0) program_clock_ = clock;
  last_ = read();
}

Duration StolenTime::take() {
  if (counters_.empty()) return Duration::zero();
  const Reading before = std::exchange(last_, read());
  return between(before, last_, counters_.size());
}

Duration StolenTime::between(const Reading& before, const Reading& after, std::size_t threads) {
  // What counts backwards has ended: a thread of the driver's, or the program.
  if (after.arrivals < before.arrivals || after.program < before.program) return Duration::zero();
  const Duration waited = after.waited - before.waited;
  const Duration waking = kWakeUp * static_cast<std::int64_t>(after.arrivals - before.arrivals);
  const Duration program = after.program - before.program;
  return std::max(waited - waking - program, Duration::zero()) / static_cast<std::int64_t>(threads);
}

StolenTime::Reading StolenTime::read() const {
  Reading now;
  for (const ring::UniqueFd& counter : counters_) {
    const Counts counts = read_counts(counter.get());
    now.waited += Duration(static_cast<std::int64_t>(counts.waited_ns));
    now.arrivals += counts.arrivals;
  }
  timespec used{};
  if (program_clock_ && ::clock_gettime(*program_clock_, &used) == 0) {
    now.program = std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  }
  return now;
}

}  // namespace fairgv::vgpu
