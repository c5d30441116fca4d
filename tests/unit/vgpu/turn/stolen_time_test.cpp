// Time stolen from a device's threads: the arithmetic, and the figures that Linux really counts.
#include "runtime/vgpu/turn/stolen_time.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace fairgv::vgpu {
namespace {

using namespace std::chrono_literals;
using Reading = StolenTime::Reading;

/// The time stolen between two readings a second apart, in which the threads ran for a tenth of it.
Duration stolen(const Reading& before, Reading after, std::size_t threads) {
  after.ran = before.ran + 100ms * static_cast<int>(threads);
  after.at = before.at + 1s;
  return StolenTime::between(before, after, threads);
}

/// The steal of a machine that is not virtual.
HostSteal no_host() {
  cpu_set_t none;
  CPU_ZERO(&none);
  return HostSteal(none);
}

TEST(StolenTime, IsWhatTheThreadsWaitedBeyondWakingUp) {
  const Reading before{10ms, 100};
  EXPECT_EQ(stolen(before, {10ms, 100}, 2), 0ms);
  EXPECT_EQ(stolen(before, {10ms + 40us, 101}, 2), 0ms) << "one wake-up";
  EXPECT_EQ(stolen(before, {16ms + 2 * StolenTime::kWakeUp, 102}, 2), 3ms) << "of each of two";
}

TEST(StolenTime, IsNothingWhenAThreadHasEnded) {
  EXPECT_EQ(stolen({1ms, 100}, {9ms, 40}, 2), 0ms);
  EXPECT_EQ(StolenTime::between({1ms, 0, 1s, 0s}, {9ms, 0, 0s, 1s}, 2), 0ms);
}

// Linux counts a wait when it is over: a wait of 5 ms that ended 1 ms after a turn had begun was mostly
// before the turn. Without the limit a short turn could cost nothing.
TEST(StolenTime, IsNoMoreThanTheTimeInWhichTheThreadsDidNotRun) {
  EXPECT_EQ(StolenTime::between({}, {10ms, 0, 4ms, 3ms}, 2), 1ms) << "each ran for 2 of 3 ms";
  EXPECT_EQ(StolenTime::between({}, {10ms, 0, 6ms, 3ms}, 2), 0ms);
  EXPECT_EQ(StolenTime::between({}, {10ms, 0, 7ms, 3ms}, 2), 0ms) << "clocks are not read at once";
}

TEST(StolenTime, IsNothingWithoutThreads) {
  EXPECT_EQ(StolenTime({}, no_host()).so_far(0ns), 0ns);
}

// Then the threads' waits are not read, since reading them takes longer than many a launch.
TEST(StolenTime, IsNothingIfTheThreadsRanWheneverACommandWasUnderWay) {
  const Reading before{0ms, 0, 3ms, 1h};
  const auto after = [](Duration ran, Duration passed) { return Reading{0ms, 0, 3ms + ran, 1h + passed}; };
  const Duration nearly = StolenTime::kWakeUp - 1us;
  EXPECT_TRUE(StolenTime::ran_throughout(before, after(5ms, 5ms), 0ms, 1));
  EXPECT_TRUE(StolenTime::ran_throughout(before, after(5ms, 5ms + nearly), 0ms, 1));
  EXPECT_FALSE(StolenTime::ran_throughout(before, after(5ms, 5ms + nearly), 0ms, 2)) << "one ran for two";
  EXPECT_FALSE(StolenTime::ran_throughout(before, after(5ms, 5ms + StolenTime::kWakeUp), 0ms, 1));
  EXPECT_TRUE(StolenTime::ran_throughout(before, after(5ms, 7ms), 2ms, 1)) << "there was nothing to run";
  EXPECT_FALSE(StolenTime::ran_throughout(before, after(9ms, 5ms), 0ms, 2)) << "9 of 10 ms";
  EXPECT_FALSE(StolenTime::ran_throughout(before, after(-1ms, 0ms), 0ms, 1)) << "a thread has ended";
}

/// The stolen time of a turn of 10 ms, of which its device had no work for 1 ms.
Duration stalled(Duration worker, Duration waited, std::uint64_t arrivals = 0) {
  const Reading before{1ms, 7, 1s, 1h, 2s};
  const Reading after{1ms + waited, 7 + arrivals, 1s, 1h + 10ms, 2s + worker};
  return StolenTime::stalled(before, after, 1ms);
}

TEST(StalledTime, IsTimeWithWorkInWhichTheWorkerNeitherRanNorWaited) {
  EXPECT_EQ(stalled(9ms, 0ms), 0ms);
  EXPECT_EQ(stalled(5ms, 0ms), 4ms);
  EXPECT_EQ(stalled(5ms, 3ms), 1ms) << "who steals by waiting is counted elsewhere";
  EXPECT_EQ(stalled(5ms, 0ms, 2), 4ms - 2 * StolenTime::kWakeUp);
  EXPECT_EQ(stalled(90ms, 0ms), 0ms) << "several threads ran";
}

TEST(StalledTime, IsNothingWhenAThreadHasEnded) {
  EXPECT_EQ(StolenTime::stalled({0ms, 5, 1s, 0s, 1s}, {0ms, 2, 0s, 1s, 1s}, 0ms), 0ms);
}

/// A process that keeps the core of this thread busy for as long as the object lives.
class Thief {
 public:
  Thief() : pid_(::fork()) {
    if (pid_ != 0) return;
    for (;;) asm volatile("");
  }
  ~Thief() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Thief(const Thief&) = delete;
  Thief& operator=(const Thief&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

/// Calls `body` in a thread that runs on one core only.
template <class Body>
void on_one_core(Body body) {
  std::thread([&] {
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &core);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(core), &core), 0);
    body();
  }).join();
}

TEST(StolenTime, CountsWhatAnotherProcessTakes) {
  if (::access("/proc/self/schedstat", R_OK) != 0) GTEST_SKIP() << "this kernel does not count";
  on_one_core([] {
    const pid_t self = ::gettid();
    const Thief thief;
    StolenTime stolen(std::span(&self, 1), no_host());
    Duration so_far{0};
    // The bound only prevents a broken system from hanging the test.
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    while (so_far < 20ms && std::chrono::steady_clock::now() < give_up) so_far = stolen.so_far(0ns);
    EXPECT_GE(so_far, 20ms);
    stolen.restart();
    EXPECT_LT(stolen.so_far(0ns), so_far);
    stolen.rest();
    stolen.restart(true);
    EXPECT_LT(stolen.so_far(0ns), so_far);
    while (stolen.so_far(0ns) < 20ms && std::chrono::steady_clock::now() < give_up) {
    }
    EXPECT_GE(stolen.so_far(0ns), 20ms) << "and counted from there on";
  });
}

TEST(StolenTime, PlusTheThreadsRunTimeIsAllTheTime) {
  on_one_core([] {
    const pid_t self = ::gettid();
    const Thief thief;
    StolenTime stolen(std::span(&self, 1), no_host());
    const auto ran = [] {
      timespec time{};
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    };
    const auto began = std::chrono::steady_clock::now();
    const Duration ran_before = ran();
    stolen.restart();
    Duration so_far{0};
    const bool counted = ::access("/proc/self/schedstat", R_OK) == 0;
    const auto give_up = began + (counted ? 30s : 1s);
    while (so_far < 50ms && std::chrono::steady_clock::now() < give_up) so_far = stolen.so_far(0ns);
    const Duration not_run = (std::chrono::steady_clock::now() - began) - (ran() - ran_before);
    EXPECT_LE(so_far, not_run);
    EXPECT_TRUE(!counted || so_far >= 50ms) << so_far.count() << " ns";
  });
}

}  // namespace
}  // namespace fairgv::vgpu
