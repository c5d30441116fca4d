// An OpenCL program for `fairgv bench transfer`: how long reads, writes and maps of a buffer take, for sizes
// from 4 KiB to LARGEST bytes, each four times the one before. Prints one JSON object: median microseconds by
// "operation bytes". It knows nothing of FairGV.
//
//   fairgv-probe-transfer LARGEST
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/json_line.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using workloads::check;

constexpr std::size_t kSmallest = 4096;
/// Every operation moves about this much in all, in at least kFewest rounds and at most kMost.
constexpr std::size_t kMoved = std::size_t{256} << 20;
constexpr std::size_t kFewest = 5;
constexpr std::size_t kMost = 400;

class Probe {
 public:
  explicit Probe(std::size_t largest) : largest_(largest), host_(largest), buffer_(fill_and_upload()) {
    cl_int error = CL_SUCCESS;
    queue_ = workloads::Queue(clCreateCommandQueue(device_.context(), device_.id(), 0, &error));
    check(error, "clCreateCommandQueue");
  }

  void run() {
    for (std::size_t bytes = kSmallest; bytes <= largest_; bytes *= 4) {
      measure("read", bytes, [&] { read(bytes, CL_TRUE); });
      measure("write", bytes, [&] { write(bytes, CL_TRUE); });
      measure("map", bytes, [&] { map_and_unmap(bytes); });
      measure("read, finish", bytes, [&] { read(bytes, CL_FALSE), finish(); });
      measure("write, finish", bytes, [&] { write(bytes, CL_FALSE), finish(); });
    }
    std::fill(host_.begin(), host_.end(), 0);
    read(largest_, CL_TRUE);
    for (std::size_t i = 0; i < host_.size(); ++i) verified_ = verified_ && host_[i] == pattern(i);
  }
  bool print() {
    line_.boolean("verified", verified_).print();
    return verified_;
  }

 private:
  static unsigned char pattern(std::size_t at) { return static_cast<unsigned char>(at * 7 + at / 4096); }

  workloads::Buffer fill_and_upload() {
    for (std::size_t i = 0; i < host_.size(); ++i) host_[i] = pattern(i);
    cl_int error = CL_SUCCESS;
    workloads::Buffer buffer(clCreateBuffer(device_.context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                            host_.size(), host_.data(), &error));
    check(error, "clCreateBuffer");
    return buffer;
  }

  /// The first round is not measured: memory is touched then.
  template <class Operation>
  void measure(const char* name, std::size_t bytes, Operation&& operation) {
    std::vector<double> times(std::clamp(kMoved / bytes, kFewest, kMost));
    operation();
    for (double& time : times) {
      const auto start = Clock::now();
      operation();
      time = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    line_.number(std::string(name) + ' ' + std::to_string(bytes), *middle, 2);
  }

  void read(std::size_t bytes, cl_bool blocking) {
    check(clEnqueueReadBuffer(queue_.get(), buffer_.get(), blocking, 0, bytes, host_.data(), 0, nullptr,
                              nullptr),
          "clEnqueueReadBuffer");
  }
  void write(std::size_t bytes, cl_bool blocking) {
    check(clEnqueueWriteBuffer(queue_.get(), buffer_.get(), blocking, 0, bytes, host_.data(), 0, nullptr,
                               nullptr),
          "clEnqueueWriteBuffer");
  }
  void map_and_unmap(std::size_t bytes) {
    cl_int error = CL_SUCCESS;
    void* const mapped = clEnqueueMapBuffer(queue_.get(), buffer_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                            0, bytes, 0, nullptr, nullptr, &error);
    check(error, "clEnqueueMapBuffer");
    check(clEnqueueUnmapMemObject(queue_.get(), buffer_.get(), mapped, 0, nullptr, nullptr),
          "clEnqueueUnmapMemObject");
    finish();
  }
  void finish() { check(clFinish(queue_.get()), "clFinish"); }

  const std::size_t largest_;
  std::vector<unsigned char> host_;
  workloads::Device device_{"0", "0"};
  workloads::Buffer buffer_;
  workloads::Queue queue_;
  workloads::JsonLine line_;
  bool verified_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  const unsigned long long largest = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (largest < kSmallest) {
    std::fprintf(stderr, "usage: fairgv-probe-transfer LARGEST (bytes, 4096 or more)\n");
    return 2;
  }
  try {
    Probe probe(largest);
    probe.run();
    return probe.print() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairgv-probe-transfer: %s\n", error.what());
    return 1;
  }
}
