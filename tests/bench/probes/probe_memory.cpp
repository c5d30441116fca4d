// An OpenCL program for `fairgv bench memory`: uses all of its memory again and again, and says how often. It
// knows nothing of FairGV.
//
//   fairgv-probe-memory WRITTEN READ MIB WORK SECONDS [START]
//
// It has WRITTEN buffers that kernels write, and READ that they only read, of MIB each, and says so. In a
// round a kernel adds one of the latter to each of the former, with WORK steps for each word. It ends after
// SECONDS, or, if that is less than 0, on SIGTERM; with 0 it makes no rounds until then. Last it prints
// rounds and seconds, and whether all contents are right.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/json_line.hpp"
#include "tests/workloads/support/stop_request.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using namespace workloads;

constexpr std::chrono::milliseconds kLookAgain{20};
constexpr std::size_t kWordsInMiB = (std::size_t{1} << 20) / sizeof(cl_int);

constexpr const char* kSource = R"(
__kernel void fill(__global int* words, const int value) { words[get_global_id(0)] = value; }
__kernel void add(__global int* words, __global const int* more, const int work) {
  const size_t i = get_global_id(0);
  int x = words[i];
  for (int step = 0; step < work; ++step) x = (x ^ (x << 7)) + step;
  words[i] += more[i];
  if (x == 0x55555555 && work < 0) words[i] = x;  // never, which no compiler knows
}
)";

struct Sizes {
  std::size_t written, read, mib;
  int work;
  double seconds;
  double start;
};

class Rounds {
 public:
  explicit Rounds(const Sizes& sizes) : sizes_(sizes) {
    cl_int error = CL_SUCCESS;
    queue_ = Queue(clCreateCommandQueue(device_.context(), device_.id(), 0, &error));
    check(error, "clCreateCommandQueue");
    for (std::size_t i = 0; i < sizes.written + sizes.read; ++i) {
      const bool is_read = i >= sizes.written;
      auto& all = is_read ? read_ : written_;
      all.push_back(device_.buffer<cl_int>(words()));
      set_arguments(fill_, all.back(), is_read ? cl_int{1} : static_cast<cl_int>(i));
      launch(fill_);
    }
    finish();
  }

  void one() {
    for (std::size_t i = 0; i < written_.size(); ++i) {
      set_arguments(add_, written_[i], read_[i % read_.size()], cl_int{sizes_.work});
      launch(add_);
    }
    finish();
    ++rounds_;
  }

  bool verified() {
    std::vector<cl_int> contents(words());
    for (std::size_t i = 0; i < written_.size(); ++i) {
      check(clEnqueueReadBuffer(queue_.get(), written_[i].get(), CL_TRUE, 0, contents.size() * sizeof(cl_int),
                                contents.data(), 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
      const auto expected = static_cast<cl_int>(i) + rounds_;
      if (!std::all_of(contents.begin(), contents.end(), [&](cl_int word) { return word == expected; }))
        return false;
    }
    return true;
  }
  cl_int count() const { return rounds_; }

 private:
  std::size_t words() const { return sizes_.mib * kWordsInMiB; }
  void launch(const Kernel& kernel) {
    const std::size_t items = words();
    check(
        clEnqueueNDRangeKernel(queue_.get(), kernel.get(), 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  }
  void finish() { check(clFinish(queue_.get()), "clFinish"); }

  const Sizes sizes_;
  Device device_{"0", "0"};
  Queue queue_;
  Program program_ = device_.build(kSource);
  Kernel fill_ = device_.kernel(program_, "fill");
  Kernel add_ = device_.kernel(program_, "add");
  std::vector<Buffer> written_, read_;
  cl_int rounds_ = 0;
};

int run(const Sizes& sizes) {
  const StopRequest stop;
  Rounds rounds(sizes);
  if (sizes.seconds != 0) rounds.one();
  JsonLine().boolean("ready", true).print();
  const Clock::time_point start(
      std::chrono::round<Clock::duration>(std::chrono::duration<double>(sizes.start)));
  while (!stop.came() && Clock::now() < start) rounds.one();
  const cl_int before = rounds.count();
  const auto begun = Clock::now();
  const auto end = std::max(begun, start) + std::chrono::duration<double>(sizes.seconds);
  const auto is_over = [&] { return stop.came() || (sizes.seconds > 0 && Clock::now() >= end); };
  if (sizes.seconds == 0) {
    while (!is_over()) std::this_thread::sleep_for(kLookAgain);
  } else {
    while (!is_over()) rounds.one();
  }
  const std::chrono::duration<double> taken = Clock::now() - begun;
  const bool verified = rounds.verified();
  JsonLine()
      .count("rounds", static_cast<std::uint64_t>(rounds.count() - before))
      .number("seconds", taken.count(), 3)
      .boolean("verified", verified)
      .print();
  return verified ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i) { return argc >= 6 && argc <= 7 ? std::strtol(argv[i], nullptr, 10) : 0; };
  if (number(1) <= 0 || number(2) <= 0 || number(3) <= 0 || number(4) < 0) {
    std::fprintf(stderr, "usage: fairgv-probe-memory WRITTEN READ MIB WORK SECONDS [START]\n");
    return 2;
  }
  try {
    return run({static_cast<std::size_t>(number(1)), static_cast<std::size_t>(number(2)),
                static_cast<std::size_t>(number(3)), static_cast<int>(number(4)),
                std::strtod(argv[5], nullptr), argc == 7 ? std::strtod(argv[6], nullptr) : 0});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairgv-probe-memory: %s\n", error.what());
    return 1;
  }
}
