// An OpenCL program for `fairgv bench moves`: holds much memory, writes a part of it all the time, and says
// how long it was held up. It knows nothing of FairGV.
//
//   fairgv-probe-moves BUFFERS MIB SECONDS   holds BUFFERS buffers of MIB each, and says so; then kernels
//   write
//                                            the first one, MiB after MiB, while a thread with a queue of its
//                                            own launches a kernel that does next to nothing each
//                                            millisecond, and another reads the clock; prints the largest gap
//                                            between the ends of two such launches, and between two looks at
//                                            the clock, in milliseconds, and whether all contents are right
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stop_token>
#include <thread>
#include <vector>

#include "tests/bench/support/load/touch_probe.hpp"
#include "tests/workloads/support/clock_watch.hpp"
#include "tests/workloads/support/json_line.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;
using namespace workloads;

constexpr std::size_t kWordsInMiB = (std::size_t{1} << 20) / sizeof(cl_int);
constexpr std::chrono::milliseconds kPeriod{1};

constexpr const char* kSource = R"(
__kernel void fill(__global int* words, const int first, const int value) {
  words[first + get_global_id(0)] = value;
}
__kernel void add_one(__global int* words, const int first) { words[first + get_global_id(0)] += 1; }
)";

/// Buffers of which each has its number in each of its words, and the first one more for each time it was
/// written.
class Holder {
 public:
  Holder(std::size_t buffers, std::size_t mib) : mib_(mib) {
    cl_int error = CL_SUCCESS;
    queue_ = Queue(clCreateCommandQueue(device_.context(), device_.id(), 0, &error));
    check(error, "clCreateCommandQueue");
    for (std::size_t i = 0; i < buffers; ++i) {
      buffers_.push_back(device_.buffer<cl_int>(mib * kWordsInMiB));
      set_arguments(fill_, buffers_.back(), cl_int{0}, static_cast<cl_int>(i));
      launch(fill_, mib * kWordsInMiB);
    }
    finish();
  }

  /// Adds one to each word of the first buffer.
  void write() {
    for (std::size_t i = 0; i < mib_; ++i) {
      set_arguments(add_one_, buffers_.front(), static_cast<cl_int>(i * kWordsInMiB));
      launch(add_one_, kWordsInMiB);
      finish();
    }
    ++written_;
  }

  bool verified() {
    std::vector<cl_int> words(mib_ * kWordsInMiB);
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      check(clEnqueueReadBuffer(queue_.get(), buffers_[i].get(), CL_TRUE, 0, words.size() * sizeof(cl_int),
                                words.data(), 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
      const cl_int expected = i == 0 ? written_ : static_cast<cl_int>(i);
      if (!std::all_of(words.begin(), words.end(), [&](cl_int word) { return word == expected; }))
        return false;
    }
    return true;
  }

  cl_int written() const { return written_; }

 private:
  void launch(const Kernel& kernel, std::size_t items) {
    check(
        clEnqueueNDRangeKernel(queue_.get(), kernel.get(), 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  }
  void finish() { check(clFinish(queue_.get()), "clFinish"); }

  Device device_{"0", "0"};
  Queue queue_;
  Program program_ = device_.build(kSource);
  Kernel fill_ = device_.kernel(program_, "fill");
  Kernel add_one_ = device_.kernel(program_, "add_one");
  std::vector<Buffer> buffers_;
  const std::size_t mib_;
  cl_int written_ = 0;
};

/// Launches again and again, until it is stopped.
class Pulse {
 public:
  Pulse() : thread_([this](const std::stop_token& stop) { beat(stop); }) {}

  /// Ends it. Throws what it has met.
  Milliseconds largest_gap() {
    thread_.request_stop();
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
    return largest_;
  }
  bool verified() { return probe_.verified(); }

 private:
  void beat(const std::stop_token& stop) {
    try {
      probe_.launch();
      probe_.finish();
      auto before = Clock::now();
      while (!stop.stop_requested()) {
        std::this_thread::sleep_for(kPeriod);
        probe_.launch();
        probe_.finish();
        const auto now = Clock::now();
        largest_ = std::max<Milliseconds>(largest_, now - before);
        before = now;
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  fairgv::bench::TouchProbe probe_;
  Milliseconds largest_{0};
  std::exception_ptr failure_;
  std::jthread thread_;  // last: it uses the others
};

int run(std::size_t buffers, std::size_t mib, double seconds) {
  Holder holder(buffers, mib);
  holder.write();
  JsonLine().boolean("ready", true).print();
  Pulse pulse;
  ClockWatch clock(kPeriod);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) holder.write();
  const Milliseconds pulse_gap = pulse.largest_gap();
  const Milliseconds clock_gap = clock.largest_gap();
  const bool verified = holder.verified() && pulse.verified();
  JsonLine()
      .number("command_gap_ms", pulse_gap.count(), 3)
      .number("clock_gap_ms", clock_gap.count(), 3)
      .count("written", static_cast<std::uint64_t>(holder.written()))
      .boolean("verified", verified)
      .print();
  return verified ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const long buffers = argc == 4 ? std::strtol(argv[1], nullptr, 10) : 0;
  const long mib = argc == 4 ? std::strtol(argv[2], nullptr, 10) : 0;
  const double seconds = argc == 4 ? std::strtod(argv[3], nullptr) : 0;
  if (buffers <= 0 || mib <= 0 || seconds <= 0) {
    std::fprintf(stderr, "usage: fairgv-probe-moves BUFFERS MIB SECONDS\n");
    return 2;
  }
  try {
    return run(static_cast<std::size_t>(buffers), static_cast<std::size_t>(mib), seconds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairgv-probe-moves: %s\n", error.what());
    return 1;
  }
}
