// Images of every type that has no buffer, and boxes of them in a model on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test::images {

using Triple = std::array<std::size_t, 3>;

inline constexpr cl_image_format kFormat{CL_RGBA, CL_UNSIGNED_INT8};
inline constexpr std::size_t kElement = 4;
inline constexpr Triple kImageOrigin{0, 0, 0};

struct Kind {
  const char* name;
  cl_mem_object_type type;
  Triple size;  // in the coordinates of boxes
};

inline constexpr Kind kKinds[] = {
    {"1D", CL_MEM_OBJECT_IMAGE1D, {37, 1, 1}},
    {"2D", CL_MEM_OBJECT_IMAGE2D, {37, 11, 1}},
    {"3D", CL_MEM_OBJECT_IMAGE3D, {17, 7, 5}},
    {"1DArray", CL_MEM_OBJECT_IMAGE1D_ARRAY, {37, 6, 1}},
    {"2DArray", CL_MEM_OBJECT_IMAGE2D_ARRAY, {17, 7, 5}},
};

inline cl_image_desc describe(const Kind& kind) {
  cl_image_desc description{};
  description.image_type = kind.type;
  description.image_width = kind.size[0];
  if (kind.type != CL_MEM_OBJECT_IMAGE1D_ARRAY) description.image_height = kind.size[1];
  if (kind.type == CL_MEM_OBJECT_IMAGE3D) description.image_depth = kind.size[2];
  if (kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY) description.image_array_size = kind.size[1];
  if (kind.type == CL_MEM_OBJECT_IMAGE2D_ARRAY) description.image_array_size = kind.size[2];
  return description;
}

inline std::size_t bytes_of(const Triple& size) {
  return size[0] * size[1] * size[2] * kElement;
}

/// A box of one array copied to a box of another; both without gaps.
inline void copy_box(const Triple& region, const Triple& from, const Triple& from_size, const Bytes& source,
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

}  // namespace fairgv::test::images
