// A program for `fairgv bench steadiness`: keeps its core busy with additions that do not wait for each
// other, so that they take as long as the core's execution units are shared, and prints how long they took.
//
//   fairgv-probe-core SECONDS   a line for every 5 ms in which it ran: seconds of CLOCK_MONOTONIC, and
//                               nanoseconds that the same additions took, the shortest of many
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSlice{5};
constexpr int kRounds = 2'000;  // some microseconds: short beside a time slice, long beside reading the clock

/// Six chains, because a core of today begins four to six additions a cycle.
void add() {
  std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
  // The compiler must know nothing of the sums, or it would add once.
  const auto keep = [](std::uint64_t& sum) { asm volatile("" : "+r"(sum)); };
  for (int round = 0; round < kRounds; ++round) {
    for (std::uint64_t* sum : {&a, &b, &c, &d, &e, &f}) {
      *sum += 1;
      keep(*sum);
    }
  }
}

std::chrono::nanoseconds shortest_until(Clock::time_point end) {
  std::chrono::nanoseconds shortest = std::chrono::nanoseconds::max();
  for (auto now = Clock::now(); now < end;) {
    add();
    const auto then = Clock::now();
    shortest = std::min<std::chrono::nanoseconds>(shortest, then - now);
    now = then;
  }
  return shortest;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc == 2 ? std::atof(argv[1]) : 0;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: fairgv-probe-core SECONDS\n");
    return 2;
  }
  const auto start = Clock::now();
  const auto end =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (auto slice = start + kSlice; slice <= end; slice += kSlice) {
    const auto shortest = shortest_until(slice);
    // Other threads had the core all the time.
    if (shortest == std::chrono::nanoseconds::max()) continue;
    std::printf("%.6f %lld\n", std::chrono::duration<double>(slice.time_since_epoch()).count(),
                static_cast<long long>(shortest.count()));
  }
  return 0;
}
