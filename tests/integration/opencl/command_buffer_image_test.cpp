// Command buffers: commands on images, run and refused.
#include "tests/integration/opencl/command_buffer_fixture.hpp"

#include <array>

namespace fairgv::test {
namespace {

constexpr std::size_t kWidth = 8;
constexpr std::size_t kHeight = 4;
constexpr std::size_t kImageBytes = kWidth * kHeight * sizeof(cl_uint);
constexpr std::array<std::size_t, 3> kOrigin{0, 0, 0};
constexpr std::array<std::size_t, 3> kRegion{kWidth, kHeight, 1};

class ImageCommandBuffers : public CommandBuffers {
 protected:
  void SetUp() override {
    CommandBuffers::SetUp();
    if (IsSkipped()) return;
    if (device_info<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT) == CL_FALSE) GTEST_SKIP() << "no images";
    buffer = make(queue);
  }

  Buffer make_image(cl_channel_type type = CL_UNSIGNED_INT32) {
    const cl_image_format format{CL_R, type};
    cl_image_desc description{};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = kWidth;
    description.image_height = kHeight;
    cl_int error = CL_SUCCESS;
    Buffer image(clCreateImage(context, CL_MEM_READ_WRITE, &format, &description, nullptr, &error));
    EXPECT_EQ(CL_SUCCESS, error);
    return image;
  }
  Bytes read_image(cl_mem image) {
    Bytes bytes(kImageBytes);
    EXPECT_EQ(CL_SUCCESS, clEnqueueReadImage(queue, image, CL_TRUE, kOrigin.data(), kRegion.data(), 0, 0,
                                             bytes.data(), 0, nullptr, nullptr));
    return bytes;
  }
  cl_int fill_image(cl_mem image, const std::array<std::size_t, 3>& origin,
                    const std::array<std::size_t, 3>& region) {
    const cl_uint color[4] = {0x01020304, 0, 0, 1};
    return record_fill_image(buffer, nullptr, image, color, origin.data(), region.data(), 0, nullptr, nullptr,
                             nullptr);
  }
  void run_recorded() {
    ASSERT_EQ(CL_SUCCESS, finalize(buffer));
    ASSERT_EQ(CL_SUCCESS, run(buffer));
    ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  }

  cl_command_buffer_khr buffer = nullptr;
};

TEST_F(ImageCommandBuffers, CopyBetweenBuffersAndImages) {
  const Bytes contents = random_bytes(kImageBytes);
  const Buffer source = make_buffer(contents);
  const Buffer destination = make_buffer(kImageBytes);
  const Buffer first = make_image();
  const Buffer second = make_image();
  cl_sync_point_khr points[2] = {};
  ASSERT_EQ(CL_SUCCESS, record_buffer_to_image(buffer, nullptr, source, first, 0, kOrigin.data(),
                                               kRegion.data(), 0, nullptr, &points[0], nullptr));
  ASSERT_EQ(CL_SUCCESS, record_image(buffer, nullptr, first, second, kOrigin.data(), kOrigin.data(),
                                     kRegion.data(), 1, &points[0], &points[1], nullptr));
  ASSERT_EQ(CL_SUCCESS, record_image_to_buffer(buffer, nullptr, second, destination, kOrigin.data(),
                                               kRegion.data(), 0, 1, &points[1], nullptr, nullptr));
  run_recorded();
  EXPECT_EQ(contents, read_image(second));
  EXPECT_EQ(contents, read(destination, kImageBytes));
}

TEST_F(ImageCommandBuffers, FillABox) {
  const Buffer image = make_image();
  ASSERT_EQ(CL_SUCCESS, fill_image(image, kOrigin, kRegion));
  run_recorded();
  Bytes filled;
  while (filled.size() < kImageBytes) filled.insert(filled.end(), {4, 3, 2, 1});
  EXPECT_EQ(filled, read_image(image));
}

TEST_F(ImageCommandBuffers, RefuseBoxesThatDoNotFit) {
  const Buffer image = make_image();
  EXPECT_EQ(CL_INVALID_VALUE, fill_image(image, {1, 0, 0}, kRegion));
  EXPECT_EQ(CL_INVALID_VALUE, fill_image(image, kOrigin, {kWidth, kHeight + 1, 1}));
  EXPECT_EQ(CL_INVALID_VALUE, record_buffer_to_image(buffer, nullptr, memory, image, kBytes, kOrigin.data(),
                                                     kRegion.data(), 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, record_image_to_buffer(buffer, nullptr, image, memory, kOrigin.data(),
                                                     kRegion.data(), kBytes, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, record_image(buffer, nullptr, image, make_image(), kOrigin.data(),
                                           std::array<std::size_t, 3>{0, 1, 0}.data(), kRegion.data(), 0,
                                           nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, record_image(buffer, nullptr, image, image, kOrigin.data(), kOrigin.data(),
                                              kRegion.data(), 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_IMAGE_FORMAT_MISMATCH,
            record_image(buffer, nullptr, image, make_image(CL_SIGNED_INT32), kOrigin.data(), kOrigin.data(),
                         kRegion.data(), 0, nullptr, nullptr, nullptr));
}

}  // namespace
}  // namespace fairgv::test
