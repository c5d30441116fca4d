// An OpenCL program for `fairgv bench launch` and `fairgv bench syscalls`: launches a kernel that does next
// to nothing, and prints the cost. It knows nothing of FairGV.
//
//   fairgv-probe-launch one-way N   N launches, then one clFinish: launches per second, and the cost of
//                                   enqueuing
//   fairgv-probe-launch finish N    N times a launch and a clFinish: median latency
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

#include "tests/bench/support/load/touch_probe.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

int run(const char* mode, long count) {
  fairgv::bench::TouchProbe probe;
  for (int i = 0; i < 100; ++i) probe.launch();
  probe.finish();
  const auto start = Clock::now();
  if (std::strcmp(mode, "one-way") == 0) {
    for (long i = 0; i < count; ++i) probe.launch();
    const double enqueued = microseconds(Clock::now() - start);
    probe.finish();
    const double finished = microseconds(Clock::now() - start);
    const double each = static_cast<double>(count);
    std::printf("{\"launches_per_s\":%.0f,\"enqueue_us\":%.3f,", each / finished * 1e6, enqueued / each);
  } else {
    std::vector<double> times;
    for (long i = 0; i < count; ++i) {
      const auto begin = Clock::now();
      probe.launch();
      probe.finish();
      times.push_back(microseconds(Clock::now() - begin));
    }
    std::nth_element(times.begin(), times.begin() + count / 2, times.end());
    std::printf("{\"finish_us\":%.2f,", times[static_cast<std::size_t>(count) / 2]);
  }
  const bool verified = probe.verified();
  std::printf("\"verified\":%s}\n", verified ? "true" : "false");
  return verified ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc == 3 ? std::strtol(argv[2], nullptr, 10) : 0;
  if (count <= 0 || (std::strcmp(argv[1], "one-way") != 0 && std::strcmp(argv[1], "finish") != 0)) {
    std::fprintf(stderr, "usage: fairgv-probe-launch one-way|finish COUNT\n");
    return 2;
  }
  try {
    return run(argv[1], count);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairgv-probe-launch: %s\n", error.what());
    return 1;
  }
}
