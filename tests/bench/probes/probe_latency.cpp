// An OpenCL program for `fairgv bench latency` and `fairgv bench crowd`. It knows nothing of FairGV.
//
//   fairgv-probe-latency wake COUNT SEED DEVICE   COUNT times: sleeps for 5 to 40 ms, launches a kernel that
//                                                 does next to nothing on the device with this index and
//                                                 waits for it; prints a line for each with the microseconds
//                                                 that took, and whether all was right
//   fairgv-probe-latency idle                     opens the first device, launches once, says so, and sleeps
//                                                 until killed
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
#include "tests/workloads/support/json_line.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using fairgv::bench::TouchProbe;

constexpr int kWarmUp = 100;            // launches; the driver compiles and loads the kernel for the first
constexpr long kShortestSleep = 5'000;  // microseconds
constexpr long kLongestSleep = 40'000;

int wake(long count, std::uint64_t seed, const char* device) {
  TouchProbe probe(device);
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
  for (const double wait : waits) std::printf("%.1f\n", wait);
  workloads::JsonLine()
      .count("wakes", waits.size())
      .count("seed", seed)
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
  const bool wakes = argc == 5 && std::strcmp(argv[1], "wake") == 0;
  const long count = wakes ? std::strtol(argv[2], nullptr, 10) : 0;
  if (!idles && count <= 0) {
    std::fprintf(stderr, "usage: fairgv-probe-latency wake COUNT SEED DEVICE | fairgv-probe-latency idle\n");
    return 2;
  }
  try {
    return idles ? idle() : wake(count, std::strtoull(argv[3], nullptr, 10), argv[4]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairgv-probe-latency: %s\n", error.what());
    return 1;
  }
}
