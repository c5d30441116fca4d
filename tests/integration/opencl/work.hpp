// A small piece of OpenCL work, for programs that must see whether the result is still right.
#pragma once

#include <vector>

#include "tests/workloads/support/device.hpp"

namespace fairgv::integration {

class Work {
 public:
  static constexpr std::size_t kItems = 64;

  Work() {
    cl_int error = CL_SUCCESS;
    queue_ = workloads::Queue(clCreateCommandQueue(device_.context(), device_.id(), 0, &error));
    workloads::check(error, "clCreateCommandQueue");
  }

  /// Ends the process if a call fails.
  bool comes_out_right() {
    const workloads::Buffer out = device_.upload(std::vector<int>(kItems, 21));
    workloads::set_arguments(kernel_, out);
    workloads::check(clEnqueueNDRangeKernel(queue_.get(), kernel_.get(), 1, nullptr, &kItems, nullptr, 0,
                                            nullptr, nullptr),
                     "clEnqueueNDRangeKernel");
    std::vector<int> values(kItems);
    workloads::check(clEnqueueReadBuffer(queue_.get(), out.get(), CL_TRUE, 0, kItems * sizeof(int),
                                         values.data(), 0, nullptr, nullptr),
                     "clEnqueueReadBuffer");
    return values == std::vector<int>(kItems, 42);
  }

  workloads::Device& device() { return device_; }
  cl_command_queue queue() const { return queue_.get(); }

 private:
  workloads::Device device_{"0", "0"};
  workloads::Program program_ =
      device_.build("kernel void twice(global int* out) { out[get_global_id(0)] *= 2; }");
  workloads::Kernel kernel_ = device_.kernel(program_, "twice");
  workloads::Queue queue_;
};

}  // namespace fairgv::integration
