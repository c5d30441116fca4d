// Runs a kernel of the corpus, whole and in sub-launches, and keeps all its results.
#pragma once

#include <vector>

#include "slicing/driver_launch.hpp"
#include "slicing/launch.hpp"
#include "tests/integration/slicing/programs.hpp"
#include "tests/unit/slicing/random.hpp"

namespace fairgv::test {

// Results of a launch: one for each work-item, at most.
inline constexpr cl_uint kSlots = 24 * 1024;

class SlicingRuns : public SlicingPrograms {
 protected:
  // All results that a launch can leave behind.
  struct Result {
    Bytes out, counters, target;
    friend bool operator==(const Result&, const Result&) = default;
  };

  void SetUp() override {
    OpenCL::SetUp();
    if (HasFatalFailure()) return;
    out_ = make_buffer(kSlots * sizeof(cl_ulong));
    counters_ = make_buffer(kCounters * sizeof(cl_uint));
    Bytes pixels = random_bytes(kImageWidth * kImageHeight * sizeof(cl_uint));
    source_ = make_image(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, pixels.data());
    target_ = make_image(CL_MEM_WRITE_ONLY, nullptr);
  }

  Buffer make_image(cl_mem_flags flags, void* host) const {
    const cl_image_format format{CL_R, CL_UNSIGNED_INT32};
    cl_image_desc description{};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = kImageWidth;
    description.image_height = kImageHeight;
    cl_int error = CL_SUCCESS;
    Buffer made(clCreateImage(context, flags, &format, &description, host, &error));
    EXPECT_EQ(CL_SUCCESS, error);
    return made;
  }

  KernelHandle kernel_of(const Subject& subject, Form form) const {
    const ProgramHandle program = program_of(subject, form);
    KernelHandle kernel = make_kernel(program, subject.kernel.c_str());
    const cl_mem out = out_, counters = counters_, source = source_, target = target_;
    EXPECT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(out), &out));
    EXPECT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(kSlots), &kSlots));
    EXPECT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 2, sizeof(counters), &counters));
    if (subject.images) {
      EXPECT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 3, sizeof(source), &source));
      EXPECT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 4, sizeof(target), &target));
    }
    return kernel;
  }

  Result run(cl_kernel kernel, const std::vector<slicing::DriverLaunch>& launches) const {
    const cl_uint pattern = 0xEEEEEEEE;
    const std::size_t counters_size = kCounters * sizeof(cl_uint);
    EXPECT_EQ(CL_SUCCESS, clEnqueueFillBuffer(queue, out_, &pattern, sizeof(pattern), 0,
                                              kSlots * sizeof(cl_ulong), 0, nullptr, nullptr));
    EXPECT_EQ(CL_SUCCESS, clEnqueueFillBuffer(queue, counters_, &pattern, sizeof(pattern), 0, counters_size,
                                              0, nullptr, nullptr));
    const std::size_t origin[3] = {0, 0, 0}, region[3] = {kImageWidth, kImageHeight, 1};
    const cl_uint color[4] = {pattern, 0, 0, 0};
    EXPECT_EQ(CL_SUCCESS, clEnqueueFillImage(queue, target_, color, origin, region, 0, nullptr, nullptr));
    for (const slicing::DriverLaunch& launch : launches) {
      EXPECT_EQ(CL_SUCCESS,
                clEnqueueNDRangeKernel(queue, kernel, launch.dimensions, launch.offset.data(),
                                       launch.size.data(), launch.local.data(), 0, nullptr, nullptr));
    }
    Result result{read(out_, kSlots * sizeof(cl_ulong)), read(counters_, counters_size),
                  Bytes(kImageWidth * kImageHeight * sizeof(cl_uint))};
    EXPECT_EQ(CL_SUCCESS, clEnqueueReadImage(queue, target_, CL_TRUE, origin, region, 0, 0,
                                             result.target.data(), 0, nullptr, nullptr));
    return result;
  }

  Result run_whole(cl_kernel kernel, const slicing::Launch& launch) const {
    return run(kernel, {{.dimensions = launch.dimensions,
                         .offset = launch.offset,
                         .size = launch.size,
                         .local = launch.local}});
  }

  Result run_sliced(cl_kernel kernel, const slicing::Launch& launch,
                    const std::vector<slicing::Box>& boxes) const {
    const auto address_bits = device_info<cl_uint>(device, CL_DEVICE_ADDRESS_BITS);
    std::vector<slicing::DriverLaunch> launches;
    for (const slicing::Box& box : boxes) {
      const auto encoded = encode(launch, box, address_bits);
      EXPECT_TRUE(encoded.has_value());
      if (encoded) launches.push_back(*encoded);
    }
    return run(kernel, launches);
  }

  slicing::Random random_;

 private:
  Buffer out_, counters_, source_, target_;
};

}  // namespace fairgv::test
