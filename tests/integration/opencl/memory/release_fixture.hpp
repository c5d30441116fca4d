// A program that releases memory while commands still use it. Runs as a tenant with a limit
// (containment/quota_test.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {

/// Some milliseconds of work on each element, so that commands are under way when their objects are released.
inline constexpr const char* kSpinSource = R"(
kernel void spin(global uint* data, uint rounds) {
  uint x = get_global_id(0) + 1;
  for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  data[get_global_id(0)] = x;
}
kernel void shade(write_only image2d_t image) {
  write_imageui(image, (int2)(get_global_id(0), get_global_id(1)), (uint4)(1));
}
)";

class Release : public OpenCL {
 protected:
  void SetUp() override {
    OpenCL::SetUp();
    limit = device_info<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    program = build(kSpinSource);
    spin_kernel = make_kernel(program, "spin");
  }

  cl_mem buffer_of(std::uint64_t bytes, cl_int& error) const {
    return clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
  }
  void fill(cl_command_queue on, cl_mem buffer, std::size_t bytes) const {
    const cl_uint pattern = 7;
    EXPECT_EQ(CL_SUCCESS,
              clEnqueueFillBuffer(on, buffer, &pattern, sizeof(pattern), 0, bytes, 0, nullptr, nullptr));
  }
  void spin(cl_command_queue on, cl_mem buffer, cl_uint rounds, cl_event* event = nullptr) const {
    const std::size_t global = 64;
    EXPECT_EQ(CL_SUCCESS, clSetKernelArg(spin_kernel, 0, sizeof(buffer), &buffer));
    EXPECT_EQ(CL_SUCCESS, clSetKernelArg(spin_kernel, 1, sizeof(rounds), &rounds));
    EXPECT_EQ(CL_SUCCESS,
              clEnqueueNDRangeKernel(on, spin_kernel, 1, nullptr, &global, nullptr, 0, nullptr, event));
  }
  cl_mem image_of(std::uint64_t bytes, cl_int& error) const {
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = 1024;
    shape.image_height = bytes / 4096;
    return clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &shape, nullptr, &error);
  }

  std::uint64_t limit = 0;
  ProgramHandle program;
  KernelHandle spin_kernel;
};

}  // namespace fairgv::test
