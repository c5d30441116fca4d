// An OpenCL program for `fairgv bench latency` and `fairgv bench crowd`. It knows nothing of FairGV.
//
//   fairgv-probe-latency wake COUNT SEED   COUNT times: sleeps for 5 to 40 ms, launches a kernel that does
//                                          next to nothing and waits for it; prints how long that took
//   fairgv-probe-latency idle              opens the device, launches once, says so, and sleeps until killed
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <thread>
#include <vector>

#include "tests/bench/support/load/touch_probe.hpp"
#include "tests/harness/statistics.hpp"
#include "tests/workloads/support/json_line.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using fairgv::bench::TouchProbe;

constexpr int kWarmUp = 100;            // launches; the driver compiles and loads the kernel for the first
constexpr long kShortestSleep = 5'000;  // microseconds
constexpr long kLongestSleep = 40'000;

int wake(long count, std::uint64_t seed) {
  using fairgv::harness::percentile;
  TouchProbe probe;
  for (int i = 0; i < kWarmUp; ++i) probe.launch();
  probe.finish();
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<long> sleep(kShortestSleep, kLongestSleep);
  std::vector<double> waits;
  for (long i = 0; i < count; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(sleep(random)));
    const auto start = Clock::now();
    probe.launch();
    probe.finish();
    waits.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  const bool verified = probe.verified();
  workloads::JsonLine()
      .count("wakes", waits.size())
      .count("seed", seed)
      .number("p50_us", percentile(waits, 50), 1)
      .number("p90_us", percentile(waits, 90), 1)
      .number("p99_us", percentile(waits, 99), 1)
      .number("max_us", percentile(waits, 100), 1)
      .boolean("verified", verified)
      .print();
  return verified ? 0 : 1;
}

int idle() {
  TouchProbe probe;
  probe.launch();
  probe.finish();
  workloads::JsonLine().boolean("idle", true).print();
  for (;;) ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  const bool idles = argc == 2 && std::strcmp(argv[1], "idle") == 0;
  const bool wakes = argc == 4 && std::strcmp(argv[1], "wake") == 0;
  const long count = wakes ? std::strtol(argv[2], nullptr, 10) : 0;
  if (!idles && count <= 0) {
    std::fprintf(stderr, "usage: fairgv-probe-latency wake COUNT SEED | fairgv-probe-latency idle\n");
    return 2;
  }
  try {
    return idles ? idle() : wake(count, std::strtoull(argv[3], nullptr, 10));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairgv-probe-latency: %s\n", error.what());
    return 1;
  }
}
