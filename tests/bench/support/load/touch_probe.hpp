// A kernel for the probes: it does next to nothing and counts how often it ran. Knows nothing of FairGV.
// Failures are thrown as ClError.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/workloads/support/device.hpp"

namespace fairgv::bench {

class TouchProbe {
 public:
  /// On the device with this index.
  explicit TouchProbe(const std::string& device = "0") : device_("0", device) {
    cl_int error = CL_SUCCESS;
    queue_ = workloads::Queue(clCreateCommandQueue(device_.context(), device_.id(), 0, &error));
    workloads::check(error, "clCreateCommandQueue");
    workloads::set_arguments(kernel_, out_);
  }

  void launch() {
    workloads::check(clEnqueueNDRangeKernel(queue_.get(), kernel_.get(), 1, nullptr, &kItems, &kItems, 0,
                                            nullptr, nullptr),
                     "clEnqueueNDRangeKernel");
    ++launches_;
  }

  void finish() { workloads::check(clFinish(queue_.get()), "clFinish"); }

  /// Whether every launch ran exactly once. Blocks.
  bool verified() {
    std::vector<int> values(kItems);
    workloads::check(clEnqueueReadBuffer(queue_.get(), out_.get(), CL_TRUE, 0, kItems * sizeof(int),
                                         values.data(), 0, nullptr, nullptr),
                     "clEnqueueReadBuffer");
    return std::all_of(values.begin(), values.end(), [&](int value) { return value == launches_; });
  }

 private:
  static constexpr const char* kSource =
      "__kernel void touch(__global int* out) { out[get_global_id(0)] += 1; }";
  static constexpr std::size_t kItems = 64;

  workloads::Device device_;
  workloads::Queue queue_;
  workloads::Program program_ = device_.build(kSource);
  workloads::Kernel kernel_ = device_.kernel(program_, "touch");
  workloads::Buffer out_ = device_.upload(std::vector<int>(kItems));
  cl_int launches_ = 0;
};

}  // namespace fairgv::bench
