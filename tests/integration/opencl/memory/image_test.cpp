// Images of every type: moved, copied, filled, mapped, read and written by kernels; against a model on the
// host.
#include <algorithm>
#include <array>
#include <cstring>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

using Triple = std::array<std::size_t, 3>;

constexpr cl_image_format kFormat{CL_RGBA, CL_UNSIGNED_INT8};
constexpr std::size_t kElement = 4;
constexpr Triple kImageOrigin{0, 0, 0};

struct Kind {
  const char* name;
  cl_mem_object_type type;
  Triple size;  // in the coordinates of boxes
};

constexpr Kind kKinds[] = {
    {"1D", CL_MEM_OBJECT_IMAGE1D, {37, 1, 1}},
    {"2D", CL_MEM_OBJECT_IMAGE2D, {37, 11, 1}},
    {"3D", CL_MEM_OBJECT_IMAGE3D, {17, 7, 5}},
    {"1DArray", CL_MEM_OBJECT_IMAGE1D_ARRAY, {37, 6, 1}},
    {"2DArray", CL_MEM_OBJECT_IMAGE2D_ARRAY, {17, 7, 5}},
};

cl_image_desc describe(const Kind& kind) {
  cl_image_desc description{};
  description.image_type = kind.type;
  description.image_width = kind.size[0];
  if (kind.type != CL_MEM_OBJECT_IMAGE1D_ARRAY) description.image_height = kind.size[1];
  if (kind.type == CL_MEM_OBJECT_IMAGE3D) description.image_depth = kind.size[2];
  if (kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY) description.image_array_size = kind.size[1];
  if (kind.type == CL_MEM_OBJECT_IMAGE2D_ARRAY) description.image_array_size = kind.size[2];
  return description;
}

std::size_t bytes_of(const Triple& size) {
  return size[0] * size[1] * size[2] * kElement;
}

/// A box of one array copied to a box of another; both without gaps.
void copy_box(const Triple& region, const Triple& from, const Triple& from_size, const Bytes& source,
              const Triple& to, const Triple& to_size, Bytes& destination) {
  for (std::size_t z = 0; z < region[2]; ++z) {
    for (std::size_t y = 0; y < region[1]; ++y) {
      const auto at = [&](const Triple& origin, const Triple& size) {
        return (((origin[2] + z) * size[1] + origin[1] + y) * size[0] + origin[0]) * kElement;
      };
      std::memcpy(destination.data() + at(to, to_size), source.data() + at(from, from_size),
                  region[0] * kElement);
    }
  }
}

class Images : public OpenCL {
 protected:
  void SetUp() override {
    OpenCL::SetUp();
    if (device_info<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT) == CL_FALSE) GTEST_SKIP() << "no images";
  }

  Buffer make_image(const cl_image_desc& description, cl_mem_flags flags = CL_MEM_READ_WRITE,
                    void* host = nullptr, const cl_image_format& format = kFormat) {
    cl_int error = CL_SUCCESS;
    Buffer image(clCreateImage(context, flags, &format, &description, host, &error));
    EXPECT_EQ(CL_SUCCESS, error);
    return image;
  }
  Buffer make_image(const Kind& kind, const Bytes& contents) {
    Bytes copy = contents;
    return make_image(describe(kind), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, copy.data());
  }

  Bytes read_image(cl_mem image, const Triple& size) {
    Bytes contents(bytes_of(size));
    EXPECT_EQ(CL_SUCCESS, clEnqueueReadImage(queue, image, CL_TRUE, kImageOrigin.data(), size.data(), 0, 0,
                                             contents.data(), 0, nullptr, nullptr));
    return contents;
  }

  Triple random_region(const Triple& size) {
    return {1 + pick(size[0] - 1), 1 + pick(size[1] - 1), 1 + pick(size[2] - 1)};
  }
  Triple random_origin(const Triple& region, const Triple& size) {
    return {pick(size[0] - region[0]), pick(size[1] - region[1]), pick(size[2] - region[2])};
  }
};

/// An image of random contents, what it must hold, and a random box of it.
class EachKind : public Images, public testing::WithParamInterface<Kind> {
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

TEST_P(EachKind, KeepsWhatItWasMadeOf) {
  EXPECT_EQ(model, read_image(image, size));
}

TEST_P(EachKind, IsReadAndWrittenInBoxes) {
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

TEST_P(EachKind, IsCopiedToAnotherAndToABufferAndBack) {
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

TEST_P(EachKind, IsFilledInABox) {
  const cl_uint color[4] = {1, 2, 3, 200};
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueFillImage(queue, image, color, origin.data(), region.data(), 0, nullptr, nullptr));
  Bytes filling;
  while (filling.size() < bytes_of(region)) filling.insert(filling.end(), {1, 2, 3, 200});
  copy_box(region, kImageOrigin, region, filling, origin, size, model);
  EXPECT_EQ(model, read_image(image, size));
}

TEST_P(EachKind, IsMappedWithThePitchesThatItTells) {
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

INSTANTIATE_TEST_SUITE_P(OfImages, EachKind, testing::ValuesIn(kKinds),
                         [](const auto& test) { return std::string("Kind") + test.param.name; });

TEST_F(Images, SayWhatTheyWereMadeOf) {
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
  if (is_bare_pocl()) return;  // takes a buffer for an image here
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, clGetImageInfo(buffer, CL_IMAGE_WIDTH, 0, nullptr, nullptr));
}

TEST_F(Images, TakeTheRowsOfTheirContentsFromWhereThePitchesSay) {
  cl_image_desc description = describe(kKinds[1]);
  description.image_row_pitch = 200;
  Bytes host = random_bytes(200 * 11);
  const Buffer image = make_image(description, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, host.data());
  const Bytes contents = read_image(image, kKinds[1].size);
  for (std::size_t y = 0; y < 11; ++y) {
    EXPECT_EQ(0, std::memcmp(contents.data() + y * 37 * kElement, host.data() + y * 200, 37 * kElement));
  }
}

TEST_F(Images, MoveRowsToWhereThePitchesSay) {
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

TEST_F(Images, InTheHostsMemoryAreMappedThere) {
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

TEST_F(Images, ThatAreMappedToBeOverwrittenTakeWhatIsWritten) {
  const Triple size = kKinds[1].size;
  const Buffer image = make_image(kKinds[1], random_bytes(bytes_of(size)));
  std::size_t row_pitch = 0;
  EventHandle mapping;
  cl_int error = CL_SUCCESS;
  auto* const mapped = static_cast<std::uint8_t*>(
      clEnqueueMapImage(queue, image, CL_FALSE, CL_MAP_WRITE_INVALIDATE_REGION, kImageOrigin.data(), size.data(),
                        &row_pitch, nullptr, 0, nullptr, mapping.out(), &error));
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

TEST_F(Images, OfABufferAreItsElements) {
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

TEST_F(Images, OfABufferAreCopiedAndFilledLikeOthers) {
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

TEST_F(Images, AreNotTakenForBuffers) {
  const Buffer image = make_image(describe(kKinds[1]));
  const Buffer buffer = make_buffer(4096);
  std::uint8_t byte = 0;
  EXPECT_EQ(CL_INVALID_MEM_OBJECT,
            clEnqueueReadImage(queue, buffer, CL_TRUE, kImageOrigin.data(), kKinds[0].size.data(), 0, 0, &byte, 0,
                               nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, clEnqueueCopyBuffer(queue, buffer, image, 0, 0, 16, 0, nullptr, nullptr));
  const cl_buffer_region region{0, 128};
  cl_int error = CL_SUCCESS;
  EXPECT_EQ(nullptr, clCreateSubBuffer(image, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, error);
}

TEST_F(Images, RefuseBoxesThatTheyDoNotHave) {
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
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueReadImage(queue, image, CL_TRUE, kImageOrigin.data(), kKinds[0].size.data(),
                                                 0, 0, nullptr, 0, nullptr, nullptr));
}

TEST_F(Images, RefuseWhatTheirFlagsForbidTheHost) {
  const Buffer secret = make_image(describe(kKinds[0]), CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS);
  const Buffer shown = make_image(describe(kKinds[0]), CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY);
  Bytes host(bytes_of(kKinds[0].size));
  const auto* const region = kKinds[0].size.data();
  EXPECT_EQ(CL_INVALID_OPERATION, clEnqueueReadImage(queue, secret, CL_TRUE, kImageOrigin.data(), region, 0, 0,
                                                     host.data(), 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_OPERATION, clEnqueueWriteImage(queue, shown, CL_TRUE, kImageOrigin.data(), region, 0, 0,
                                                      host.data(), 0, nullptr, nullptr));
  EXPECT_EQ(CL_SUCCESS, clEnqueueReadImage(queue, shown, CL_TRUE, kImageOrigin.data(), region, 0, 0, host.data(),
                                           0, nullptr, nullptr));
  cl_int error = CL_SUCCESS;
  std::size_t pitch = 0;
  EXPECT_EQ(nullptr, clEnqueueMapImage(queue, shown, CL_TRUE, CL_MAP_WRITE, kImageOrigin.data(), region, &pitch,
                                       nullptr, 0, nullptr, nullptr, &error));
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

TEST_F(Images, AreRefusedWithTheSpecificationsErrors) {
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
  if (is_bare_pocl()) return;  // has other errors for the following
  const cl_image_format strange{CL_RGB, CL_FLOAT};
  EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, error_of(0, &strange, &description, nullptr));
  description.image_width = device_info<std::size_t>(device, CL_DEVICE_IMAGE2D_MAX_WIDTH) + 1;
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, error_of(0, &kFormat, &description, nullptr));
  description.image_width = 0;
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, error_of(0, &kFormat, &description, nullptr));
}

TEST_F(Images, CanBeMadeTheOldWay) {
  cl_int error = CL_SUCCESS;
  const Buffer plane(clCreateImage2D(context, CL_MEM_READ_WRITE, &kFormat, 6, 4, 0, nullptr, &error));
  EXPECT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(6U, image_info<std::size_t>(plane, CL_IMAGE_WIDTH));
  const Buffer solid(clCreateImage3D(context, CL_MEM_READ_WRITE, &kFormat, 6, 4, 3, 0, 0, nullptr, &error));
  EXPECT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(3U, image_info<std::size_t>(solid, CL_IMAGE_DEPTH));
}

TEST_F(Images, FormatsThatAreListedCanBeUsed) {
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
    ASSERT_EQ(CL_SUCCESS, clEnqueueWriteImage(queue, image, CL_FALSE, kImageOrigin.data(), kKinds[1].size.data(),
                                              0, 0, data.data(), 0, nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS, clEnqueueReadImage(queue, image, CL_TRUE, kImageOrigin.data(), kKinds[1].size.data(), 0,
                                             0, got.data(), 0, nullptr, nullptr));
    EXPECT_EQ(data, got) << format.image_channel_order << " " << format.image_channel_data_type;
  }
  EXPECT_EQ(CL_INVALID_VALUE,
            clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_BUFFER, 0, nullptr, &count));
  EXPECT_EQ(CL_INVALID_VALUE, clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 0,
                                                         formats.data(), nullptr));
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
}  // namespace fairgv::test
