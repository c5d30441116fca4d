// Images of every type against a model on the host: made, read, written, copied, filled and mapped in boxes.
#include <algorithm>
#include <cstring>
#include <string>

#include "tests/integration/opencl/memory/image_fixture.hpp"

namespace fairgv::test::images {
namespace {

/// An image of random contents, its expected contents, and a random box of it.
class ImageOfEachKind : public Images, public testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override {
    Images::SetUp();
    if (IsSkipped()) return;
    size = GetParam().size;
    model = random_bytes(bytes_of(size));
    image = make_image(GetParam(), model);
    region = random_region(size);
    origin = random_origin(region, size);
  }

  Triple size{}, region{}, origin{};
  Bytes model;
  Buffer image;
};

TEST_P(ImageOfEachKind, KeepsTheContentsThatItWasMadeWith) {
  EXPECT_EQ(model, read_image(image, size));
}

TEST_P(ImageOfEachKind, IsReadAndWrittenInBoxes) {
  for (int round = 0; round < 20; ++round) {
    region = random_region(size);
    origin = random_origin(region, size);
    const Bytes data = random_bytes(bytes_of(region));
    ASSERT_EQ(CL_SUCCESS, clEnqueueWriteImage(queue, image, round % 2 == 0, origin.data(), region.data(), 0,
                                              0, data.data(), 0, nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS, clFinish(queue));
    copy_box(region, kImageOrigin, region, data, origin, size, model);
    const Triple other = random_region(size);
    const Triple from = random_origin(other, size);
    Bytes got(bytes_of(other));
    Bytes expected(bytes_of(other));
    copy_box(other, from, size, model, kImageOrigin, other, expected);
    ASSERT_EQ(CL_SUCCESS, clEnqueueReadImage(queue, image, CL_TRUE, from.data(), other.data(), 0, 0,
                                             got.data(), 0, nullptr, nullptr));
    ASSERT_EQ(expected, got) << "round " << round;
  }
}

TEST_P(ImageOfEachKind, IsCopiedToAnotherAndToABufferAndBack) {
  const Bytes contents = random_bytes(bytes_of(size));
  const Buffer source = make_image(GetParam(), contents);
  const Triple from = random_origin(region, size);
  ASSERT_EQ(CL_SUCCESS, clEnqueueCopyImage(queue, source, image, from.data(), origin.data(), region.data(), 0,
                                           nullptr, nullptr));
  copy_box(region, from, size, contents, origin, size, model);
  EXPECT_EQ(model, read_image(image, size));

  const Buffer buffer = make_buffer(random_bytes(64 + bytes_of(size)));
  ASSERT_EQ(CL_SUCCESS, clEnqueueCopyImageToBuffer(queue, source, buffer, from.data(), region.data(), 64, 0,
                                                   nullptr, nullptr));
  Bytes box(bytes_of(region));
  copy_box(region, from, size, contents, kImageOrigin, region, box);
  const Bytes in_buffer = read(buffer, 64 + box.size());
  EXPECT_TRUE(std::equal(box.begin(), box.end(), in_buffer.begin() + 64));

  const Triple back = random_origin(region, size);
  ASSERT_EQ(CL_SUCCESS, clEnqueueCopyBufferToImage(queue, buffer, image, 64, back.data(), region.data(), 0,
                                                   nullptr, nullptr));
  copy_box(region, kImageOrigin, region, box, back, size, model);
  EXPECT_EQ(model, read_image(image, size));
}

TEST_P(ImageOfEachKind, IsFilledInABox) {
  const cl_uint color[4] = {1, 2, 3, 200};
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueFillImage(queue, image, color, origin.data(), region.data(), 0, nullptr, nullptr));
  Bytes filling;
  while (filling.size() < bytes_of(region)) filling.insert(filling.end(), {1, 2, 3, 200});
  copy_box(region, kImageOrigin, region, filling, origin, size, model);
  EXPECT_EQ(model, read_image(image, size));
}

TEST_P(ImageOfEachKind, IsMappedWithThePitchesThatTheCallReturns) {
  std::size_t row_pitch = 0;
  std::size_t slice_pitch = 0;
  cl_int error = CL_SUCCESS;
  auto* const mapped = static_cast<std::uint8_t*>(
      clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin.data(), region.data(),
                        &row_pitch, &slice_pitch, 0, nullptr, nullptr, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(1U, memory_info<cl_uint>(image, CL_MEM_MAP_COUNT));
  const std::size_t step = GetParam().type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? slice_pitch : row_pitch;
  Bytes box(bytes_of(region));
  const Bytes data = random_bytes(box.size());
  const std::size_t row = region[0] * kElement;
  for (std::size_t z = 0; z < region[2]; ++z) {
    for (std::size_t y = 0; y < region[1]; ++y) {
      const std::size_t at = (z * region[1] + y) * row;
      std::uint8_t* const place = mapped + z * slice_pitch + y * step;
      std::memcpy(box.data() + at, place, row);
      std::memcpy(place, data.data() + at, row);
    }
  }
  Bytes expected(box.size());
  copy_box(region, origin, size, model, kImageOrigin, region, expected);
  EXPECT_EQ(expected, box);
  ASSERT_EQ(CL_SUCCESS, clEnqueueUnmapMemObject(queue, image, mapped, 0, nullptr, nullptr));
  copy_box(region, kImageOrigin, region, data, origin, size, model);
  EXPECT_EQ(model, read_image(image, size));
  // PoCL 3.1 counts down some time after the unmapping has ended.
  if (is_bare_pocl()) return;
  EXPECT_EQ(0U, memory_info<cl_uint>(image, CL_MEM_MAP_COUNT));
}

INSTANTIATE_TEST_SUITE_P(All, ImageOfEachKind, testing::ValuesIn(kKinds),
                         [](const auto& test) { return std::string("Kind") + test.param.name; });

}  // namespace
}  // namespace fairgv::test::images
