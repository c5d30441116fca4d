// Images that cannot be made, and commands on images that must be refused.
#include <cstdint>

#include "tests/integration/opencl/memory/image_fixture.hpp"

namespace fairgv::test::images {
namespace {

TEST_F(Images, ThatCannotBeMadeAreRefusedWithTheSpecificationsErrors) {
  cl_image_desc description = describe(kKinds[1]);
  const auto error_of = [&](cl_mem_flags flags, const cl_image_format* format, const cl_image_desc* described,
                            void* host) {
    cl_int error = CL_SUCCESS;
    EXPECT_EQ(nullptr, clCreateImage(context, flags, format, described, host, &error));
    return error;
  };
  std::uint8_t byte = 0;
  EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, error_of(0, nullptr, &description, nullptr));
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, error_of(0, &kFormat, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_HOST_PTR, error_of(CL_MEM_COPY_HOST_PTR, &kFormat, &description, nullptr));
  EXPECT_EQ(CL_INVALID_HOST_PTR, error_of(0, &kFormat, &description, &byte));
  EXPECT_EQ(CL_INVALID_VALUE,
            error_of(CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, &kFormat, &description, nullptr));
  if (is_bare_pocl()) return;  // other errors for the calls below
  const cl_image_format strange{CL_RGB, CL_FLOAT};
  EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, error_of(0, &strange, &description, nullptr));
  description.image_width = device_info<std::size_t>(device, CL_DEVICE_IMAGE2D_MAX_WIDTH) + 1;
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, error_of(0, &kFormat, &description, nullptr));
  description.image_width = 0;
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, error_of(0, &kFormat, &description, nullptr));
}

TEST_F(Images, AreNotTakenForBuffers) {
  const Buffer image = make_image(describe(kKinds[1]));
  const Buffer buffer = make_buffer(4096);
  std::uint8_t byte = 0;
  EXPECT_EQ(CL_INVALID_MEM_OBJECT,
            clEnqueueReadImage(queue, buffer, CL_TRUE, kImageOrigin.data(), kKinds[0].size.data(), 0, 0,
                               &byte, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, clEnqueueCopyBuffer(queue, buffer, image, 0, 0, 16, 0, nullptr, nullptr));
  const cl_buffer_region region{0, 128};
  cl_int error = CL_SUCCESS;
  EXPECT_EQ(nullptr, clCreateSubBuffer(image, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, error);
}

TEST_F(Images, RefuseBoxesBeyondTheirBounds) {
  const Buffer image = make_image(describe(kKinds[1]));
  Bytes host(8192);
  const auto read_box = [&](const Triple& origin, const Triple& region, std::size_t row_pitch = 0) {
    return clEnqueueReadImage(queue, image, CL_TRUE, origin.data(), region.data(), row_pitch, 0, host.data(),
                              0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_SUCCESS, read_box({36, 10, 0}, {1, 1, 1}));
  EXPECT_EQ(CL_INVALID_VALUE, read_box({36, 10, 0}, {2, 1, 1}));
  EXPECT_EQ(CL_INVALID_VALUE, read_box({0, 10, 0}, {2, 2, 1}));
  EXPECT_EQ(CL_INVALID_VALUE, read_box({0, 0, 1}, {1, 1, 1}));
  EXPECT_EQ(CL_INVALID_VALUE, read_box({0, 0, 0}, {1, 1, 2}));
  if (!is_bare_pocl()) {
    EXPECT_EQ(CL_INVALID_VALUE, read_box({0, 0, 0}, {0, 1, 1}));
    EXPECT_EQ(CL_INVALID_VALUE, read_box({0, 0, 0}, {4, 1, 1}, 15)) << "a pitch of less than a row";
  }
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueReadImage(queue, image, CL_TRUE, kImageOrigin.data(),
                                                 kKinds[0].size.data(), 0, 0, nullptr, 0, nullptr, nullptr));
}

TEST_F(Images, RefuseAccessesOfTheHostThatTheirFlagsForbid) {
  const Buffer secret = make_image(describe(kKinds[0]), CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS);
  const Buffer shown = make_image(describe(kKinds[0]), CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY);
  Bytes host(bytes_of(kKinds[0].size));
  const auto* const region = kKinds[0].size.data();
  EXPECT_EQ(CL_INVALID_OPERATION, clEnqueueReadImage(queue, secret, CL_TRUE, kImageOrigin.data(), region, 0,
                                                     0, host.data(), 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_OPERATION, clEnqueueWriteImage(queue, shown, CL_TRUE, kImageOrigin.data(), region, 0,
                                                      0, host.data(), 0, nullptr, nullptr));
  EXPECT_EQ(CL_SUCCESS, clEnqueueReadImage(queue, shown, CL_TRUE, kImageOrigin.data(), region, 0, 0,
                                           host.data(), 0, nullptr, nullptr));
  cl_int error = CL_SUCCESS;
  std::size_t pitch = 0;
  EXPECT_EQ(nullptr, clEnqueueMapImage(queue, shown, CL_TRUE, CL_MAP_WRITE, kImageOrigin.data(), region,
                                       &pitch, nullptr, 0, nullptr, nullptr, &error));
  EXPECT_EQ(CL_INVALID_OPERATION, error);
}

TEST_F(Images, RefuseCopiesThatOverlapOrChangeTheFormat) {
  const Buffer image = make_image(describe(kKinds[1]));
  const Buffer other = make_image(describe(kKinds[1]), CL_MEM_READ_WRITE, nullptr, {CL_RGBA, CL_SIGNED_INT8});
  const Triple meets{3, 3, 0};
  const Triple beside{4, 0, 0};
  const Triple region{4, 4, 1};
  const auto copy = [&](cl_mem to, const Triple& origin) {
    return clEnqueueCopyImage(queue, image, to, kImageOrigin.data(), origin.data(), region.data(), 0, nullptr,
                              nullptr);
  };
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(image, meets));
  EXPECT_EQ(CL_SUCCESS, copy(image, beside));
  EXPECT_EQ(CL_IMAGE_FORMAT_MISMATCH, copy(other, kImageOrigin));
  EXPECT_EQ(CL_SUCCESS, clFinish(queue));
}

TEST_F(Images, PipesAreRefusedByDevicesWithoutThem) {
  if (device_info<cl_bool>(device, CL_DEVICE_PIPE_SUPPORT) != CL_FALSE) GTEST_SKIP() << "has pipes";
  cl_int error = CL_SUCCESS;
  EXPECT_EQ(nullptr, clCreatePipe(context, CL_MEM_READ_WRITE, 16, 16, nullptr, &error));
  EXPECT_EQ(CL_INVALID_OPERATION, error);
  const Buffer buffer = make_buffer(64);
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, clGetPipeInfo(buffer, CL_PIPE_PACKET_SIZE, 0, nullptr, nullptr));
}

}  // namespace
}  // namespace fairgv::test::images
