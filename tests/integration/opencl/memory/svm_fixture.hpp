// Shared by the tests of shared virtual memory: allocations, and a skip where the device has no such memory.
#pragma once

#include <memory>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {

class SharedMemory : public OpenCL {
 protected:
  void SetUp() override {
    OpenCL::SetUp();
    capabilities = device_info<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES);
    if ((capabilities & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) == 0) GTEST_SKIP() << "no shared virtual memory";
  }

  struct Free {
    cl_context context;
    void operator()(void* pointer) const { clSVMFree(context, pointer); }
  };
  template <class T>
  using Allocation = std::unique_ptr<T[], Free>;

  /// `count` values in memory that host and device may use at any time, set to zero.
  template <class T>
  Allocation<T> allocate(std::size_t count) {
    void* const made =
        clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, count * sizeof(T), 0);
    EXPECT_NE(nullptr, made);
    if (made != nullptr) std::fill_n(static_cast<T*>(made), count, T{});
    return Allocation<T>(static_cast<T*>(made), Free{context});
  }

  void launch(cl_kernel kernel, std::size_t items) const {
    EXPECT_EQ(CL_SUCCESS,
              clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
  }

  cl_device_svm_capabilities capabilities = 0;
};

}  // namespace fairgv::test
