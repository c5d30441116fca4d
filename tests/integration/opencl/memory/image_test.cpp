// Images: queries, pitches, host memory, buffers, kernels, formats.
#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/integration/opencl/memory/image_fixture.hpp"

namespace fairgv::test::images {
namespace {

TEST_F(Images, AnswerQueriesAboutTheirDescription) {
  cl_image_desc description = describe(kKinds[2]);
  description.image_row_pitch = 80;
  description.image_slice_pitch = 800;
  Bytes host = random_bytes(800 * 5);
  const Buffer image = make_image(description, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, host.data());
  EXPECT_EQ(cl_mem_object_type{CL_MEM_OBJECT_IMAGE3D}, memory_info<cl_mem_object_type>(image, CL_MEM_TYPE));
  EXPECT_EQ(std::size_t{4000}, memory_info<std::size_t>(image, CL_MEM_SIZE));
  EXPECT_EQ(CL_RGBA, image_info<cl_image_format>(image, CL_IMAGE_FORMAT).image_channel_order);
  EXPECT_EQ(kElement, image_info<std::size_t>(image, CL_IMAGE_ELEMENT_SIZE));
  EXPECT_EQ(80U, image_info<std::size_t>(image, CL_IMAGE_ROW_PITCH));
  EXPECT_EQ(800U, image_info<std::size_t>(image, CL_IMAGE_SLICE_PITCH));
  EXPECT_EQ(17U, image_info<std::size_t>(image, CL_IMAGE_WIDTH));
  EXPECT_EQ(7U, image_info<std::size_t>(image, CL_IMAGE_HEIGHT));
  EXPECT_EQ(5U, image_info<std::size_t>(image, CL_IMAGE_DEPTH));
  EXPECT_EQ(0U, image_info<std::size_t>(image, CL_IMAGE_ARRAY_SIZE));
  EXPECT_EQ(nullptr, image_info<cl_mem>(image, CL_IMAGE_BUFFER));
  EXPECT_EQ(0U, image_info<cl_uint>(image, CL_IMAGE_NUM_MIP_LEVELS));
  cl_uint unknown = 0;
  EXPECT_EQ(CL_INVALID_VALUE, clGetImageInfo(image, 0x1234, sizeof(unknown), &unknown, nullptr));
  const Buffer buffer = make_buffer(64);
  if (is_bare_pocl()) return;  // it takes a buffer for an image here
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, clGetImageInfo(buffer, CL_IMAGE_WIDTH, 0, nullptr, nullptr));
}

TEST_F(Images, TakeTheirInitialRowsAtTheGivenPitch) {
  cl_image_desc description = describe(kKinds[1]);
  description.image_row_pitch = 200;
  Bytes host = random_bytes(200 * 11);
  const Buffer image = make_image(description, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, host.data());
  const Bytes contents = read_image(image, kKinds[1].size);
  for (std::size_t y = 0; y < 11; ++y) {
    EXPECT_EQ(0, std::memcmp(contents.data() + y * 37 * kElement, host.data() + y * 200, 37 * kElement));
  }
}

TEST_F(Images, ReadAndWriteRowsAtTheGivenPitches) {
  const Triple size = kKinds[2].size;
  const Bytes contents = random_bytes(bytes_of(size));
  const Buffer image = make_image(kKinds[2], contents);
  const Triple origin{2, 1, 1};
  const Triple region{5, 3, 4};
  Bytes host = random_bytes(4 * 150);
  Bytes model = host;
  for (std::size_t z = 0; z < region[2]; ++z) {
    for (std::size_t y = 0; y < region[1]; ++y) {
      const std::size_t from = (((origin[2] + z) * size[1] + origin[1] + y) * size[0] + origin[0]) * kElement;
      std::memcpy(model.data() + z * 150 + y * 30, contents.data() + from, region[0] * kElement);
    }
  }
  ASSERT_EQ(CL_SUCCESS, clEnqueueReadImage(queue, image, CL_TRUE, origin.data(), region.data(), 30, 150,
                                           host.data(), 0, nullptr, nullptr));
  EXPECT_EQ(model, host);
  const Buffer other = make_image(kKinds[2], random_bytes(contents.size()));
  ASSERT_EQ(CL_SUCCESS, clEnqueueWriteImage(queue, other, CL_FALSE, origin.data(), region.data(), 30, 150,
                                            host.data(), 0, nullptr, nullptr));
  Bytes got(bytes_of(region));
  Bytes expected(bytes_of(region));
  copy_box(region, origin, size, contents, kImageOrigin, region, expected);
  ASSERT_EQ(CL_SUCCESS, clEnqueueReadImage(queue, other, CL_TRUE, origin.data(), region.data(), 0, 0,
                                           got.data(), 0, nullptr, nullptr));
  EXPECT_EQ(expected, got);
}

TEST_F(Images, InTheHostsMemoryAreMappedInPlace) {
  const Triple size = kKinds[1].size;
  Bytes host = random_bytes(bytes_of(size));
  const Buffer image = make_image(describe(kKinds[1]), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, host.data());
  EXPECT_EQ(host.data(), memory_info<void*>(image, CL_MEM_HOST_PTR));
  const cl_uint color[4] = {9, 8, 7, 6};
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueFillImage(queue, image, color, kImageOrigin.data(), size.data(), 0, nullptr, nullptr));
  const Triple origin{3, 2, 0};
  const Triple region{10, 4, 1};
  std::size_t row_pitch = 0;
  cl_int error = CL_SUCCESS;
  auto* const mapped = static_cast<std::uint8_t*>(
      clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin.data(), region.data(),
                        &row_pitch, nullptr, 0, nullptr, nullptr, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(host.data() + (2 * size[0] + 3) * kElement, mapped);
  EXPECT_EQ(size[0] * kElement, row_pitch);
  EXPECT_EQ(7, mapped[3 * row_pitch + 9 * kElement + 2]);
  mapped[row_pitch] = 77;
  ASSERT_EQ(CL_SUCCESS, clEnqueueUnmapMemObject(queue, image, mapped, 0, nullptr, nullptr));
  EXPECT_EQ(77, read_image(image, size)[(3 * size[0] + 3) * kElement]);
}

TEST_F(Images, ThatAreMappedToBeOverwrittenKeepTheNewContents) {
  const Triple size = kKinds[1].size;
  const Buffer image = make_image(kKinds[1], random_bytes(bytes_of(size)));
  std::size_t row_pitch = 0;
  EventHandle mapping;
  cl_int error = CL_SUCCESS;
  auto* const mapped = static_cast<std::uint8_t*>(
      clEnqueueMapImage(queue, image, CL_FALSE, CL_MAP_WRITE_INVALIDATE_REGION, kImageOrigin.data(),
                        size.data(), &row_pitch, nullptr, 0, nullptr, mapping.out(), &error));
  ASSERT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(cl_command_type{CL_COMMAND_MAP_IMAGE},
            event_info<cl_command_type>(mapping, CL_EVENT_COMMAND_TYPE));
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, mapping.address()));
  const Bytes data = random_bytes(bytes_of(size));
  for (std::size_t y = 0; y < size[1]; ++y) {
    std::memcpy(mapped + y * row_pitch, data.data() + y * size[0] * kElement, size[0] * kElement);
  }
  ASSERT_EQ(CL_SUCCESS, clEnqueueUnmapMemObject(queue, image, mapped, 0, nullptr, nullptr));
  EXPECT_EQ(data, read_image(image, size));
}

TEST_F(Images, OfABufferShareItsElements) {
  const Bytes contents = random_bytes(1024);
  const Buffer buffer = make_buffer(contents);
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
  description.image_width = 200;
  description.buffer = buffer;
  const Buffer image = make_image(description);
  EXPECT_EQ(buffer.get(), image_info<cl_mem>(image, CL_IMAGE_BUFFER));
  EXPECT_EQ(buffer.get(), memory_info<cl_mem>(image, CL_MEM_ASSOCIATED_MEMOBJECT));
  const ProgramHandle program = build(
      "kernel void twice(read_only image1d_buffer_t from, global uint4* to) {"
      "  const int i = get_global_id(0); to[i] = read_imageui(from, i) * 2; }");
  const KernelHandle twice = make_kernel(program, "twice");
  const Buffer result = make_buffer(200 * sizeof(cl_uint4));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(twice, 0, sizeof(cl_mem), &image));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(twice, 1, sizeof(cl_mem), &result));
  const std::size_t items = 200;
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueNDRangeKernel(queue, twice, 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
  const Bytes doubled = read(result, 200 * sizeof(cl_uint4));
  for (std::size_t i = 0; i < 800; ++i) {
    cl_uint value = 0;
    std::memcpy(&value, doubled.data() + i * sizeof(value), sizeof(value));
    ASSERT_EQ(2U * contents[i], value) << i;
  }
  description.image_width = 500;
  cl_int error = CL_SUCCESS;
  EXPECT_EQ(nullptr, clCreateImage(context, 0, &kFormat, &description, nullptr, &error));
  EXPECT_NE(CL_SUCCESS, error) << "more elements than the buffer has";
}

TEST_F(Images, OfABufferAreCopiedAndFilled) {
  if (is_bare_pocl()) GTEST_SKIP() << "PoCL 3.1 crashes";
  Bytes model = random_bytes(20'000);
  const Buffer buffer = make_buffer(model);
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
  description.image_width = 5000;
  description.buffer = buffer;
  const Buffer image = make_image(description);
  const cl_uint color[4] = {1, 2, 3, 4};
  const Triple fill_origin{100, 0, 0};
  const Triple fill_region{4500, 1, 1};
  ASSERT_EQ(CL_SUCCESS, clEnqueueFillImage(queue, image, color, fill_origin.data(), fill_region.data(), 0,
                                           nullptr, nullptr));
  for (std::size_t i = 400; i < 18'400; ++i) model[i] = static_cast<std::uint8_t>(1 + i % 4);
  EXPECT_EQ(model, read(buffer, model.size()));

  const Bytes other = random_bytes(64);
  const Buffer small = make_buffer(other);
  const Triple origin{10, 0, 0};
  const Triple region{8, 1, 1};
  ASSERT_EQ(CL_SUCCESS, clEnqueueCopyBufferToImage(queue, small, image, 32, origin.data(), region.data(), 0,
                                                   nullptr, nullptr));
  std::copy_n(other.begin() + 32, 32, model.begin() + 40);
  EXPECT_EQ(model, read(buffer, model.size()));
  ASSERT_EQ(CL_SUCCESS, clEnqueueCopyImageToBuffer(queue, image, small, origin.data(), region.data(), 0, 0,
                                                   nullptr, nullptr));
  const Bytes back = read(small, 32);
  EXPECT_TRUE(std::equal(back.begin(), back.end(), other.begin() + 32));
}

constexpr const char* kTransposeSource =
    "constant sampler_t at = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;"
    "kernel void transpose(read_only image2d_t from, write_only image2d_t to) {"
    "  const int2 p = (int2)(get_global_id(0), get_global_id(1));"
    "  write_imageui(to, p.yx, read_imageui(from, at, p)); }";

TEST_F(Images, AreReadAndWrittenByKernels) {
  const Bytes contents = random_bytes(8 * 5 * kElement);
  const Kind wide{"", CL_MEM_OBJECT_IMAGE2D, {8, 5, 1}};
  const Kind high{"", CL_MEM_OBJECT_IMAGE2D, {5, 8, 1}};
  const Buffer from = make_image(wide, contents);
  const Buffer to = make_image(describe(high));
  const KernelHandle transpose = make_kernel(build(kTransposeSource), "transpose");
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(transpose, 0, sizeof(cl_mem), &from));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(transpose, 1, sizeof(cl_mem), &to));
  const std::size_t items[2] = {8, 5};
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueNDRangeKernel(queue, transpose, 2, nullptr, items, nullptr, 0, nullptr, nullptr));
  const Bytes turned = read_image(to, high.size);
  for (std::size_t y = 0; y < 5; ++y) {
    for (std::size_t x = 0; x < 8; ++x) {
      ASSERT_EQ(0, std::memcmp(turned.data() + (x * 5 + y) * kElement,
                               contents.data() + (y * 8 + x) * kElement, kElement));
    }
  }
}

TEST_F(Images, CanBeMadeByTheFunctionsOfOpenCL11) {
  cl_int error = CL_SUCCESS;
  const Buffer plane(clCreateImage2D(context, CL_MEM_READ_WRITE, &kFormat, 6, 4, 0, nullptr, &error));
  EXPECT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(6U, image_info<std::size_t>(plane, CL_IMAGE_WIDTH));
  const Buffer solid(clCreateImage3D(context, CL_MEM_READ_WRITE, &kFormat, 6, 4, 3, 0, 0, nullptr, &error));
  EXPECT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(3U, image_info<std::size_t>(solid, CL_IMAGE_DEPTH));
}

TEST_F(Images, OfEveryListedFormatCanBeWrittenAndRead) {
  cl_uint count = 0;
  ASSERT_EQ(CL_SUCCESS, clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0,
                                                   nullptr, &count));
  ASSERT_GT(count, 0U);
  std::vector<cl_image_format> formats(count);
  ASSERT_EQ(CL_SUCCESS, clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, count,
                                                   formats.data(), nullptr));
  for (const cl_image_format& format : formats) {
    const Buffer image = make_image(describe(kKinds[1]), CL_MEM_READ_WRITE, nullptr, format);
    const std::size_t element = image_info<std::size_t>(image, CL_IMAGE_ELEMENT_SIZE);
    const Bytes data = random_bytes(element * 37 * 11);
    Bytes got(data.size());
    ASSERT_EQ(CL_SUCCESS, clEnqueueWriteImage(queue, image, CL_FALSE, kImageOrigin.data(),
                                              kKinds[1].size.data(), 0, 0, data.data(), 0, nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS, clEnqueueReadImage(queue, image, CL_TRUE, kImageOrigin.data(),
                                             kKinds[1].size.data(), 0, 0, got.data(), 0, nullptr, nullptr));
    EXPECT_EQ(data, got) << format.image_channel_order << " " << format.image_channel_data_type;
  }
  EXPECT_EQ(CL_INVALID_VALUE,
            clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_BUFFER, 0, nullptr, &count));
  EXPECT_EQ(CL_INVALID_VALUE, clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0,
                                                         formats.data(), nullptr));
}

}  // namespace
}  // namespace fairgv::test::images
