// Images: sizes of formats, shapes and their pitches, boxes, the place of a box in host memory.
#include <gtest/gtest.h>

#include "icd/memory/image_shape.hpp"
#include "runtime/wire/image_format.hpp"

namespace fairgv::icd {
namespace {

constexpr cl_image_format kBytes4{CL_RGBA, CL_UNORM_INT8};

TEST(ImageFormat, AnElementHasItsChannelsOneAfterTheOther) {
  EXPECT_EQ(1U, wire::element_bytes(CL_R, CL_SIGNED_INT8));
  EXPECT_EQ(4U, wire::element_bytes(CL_RG, CL_HALF_FLOAT));
  EXPECT_EQ(4U, wire::element_bytes(CL_BGRA, CL_UNORM_INT8));
  EXPECT_EQ(16U, wire::element_bytes(CL_RGBA, CL_FLOAT));
  EXPECT_EQ(4U, wire::element_bytes(CL_DEPTH, CL_FLOAT));
  EXPECT_EQ(2U, wire::element_bytes(CL_LUMINANCE, CL_UNORM_INT16));
}

TEST(ImageFormat, PackedTypesAreOneNumber) {
  EXPECT_EQ(2U, wire::element_bytes(CL_RGB, CL_UNORM_SHORT_565));
  EXPECT_EQ(2U, wire::element_bytes(CL_RGBx, CL_UNORM_SHORT_555));
  EXPECT_EQ(4U, wire::element_bytes(CL_RGB, CL_UNORM_INT_101010));
  EXPECT_EQ(4U, wire::element_bytes(CL_RGBA, CL_UNORM_INT_101010_2));
}

TEST(ImageFormat, PairsThatDoNotExistHaveNoSize) {
  EXPECT_EQ(0U, wire::element_bytes(CL_RGB, CL_FLOAT));
  EXPECT_EQ(0U, wire::element_bytes(CL_RGBA, CL_UNORM_SHORT_565));
  EXPECT_EQ(0U, wire::element_bytes(CL_BGRA, CL_FLOAT));
  EXPECT_EQ(0U, wire::element_bytes(CL_INTENSITY, CL_SIGNED_INT32));
  EXPECT_EQ(0U, wire::element_bytes(CL_sRGBA, CL_UNORM_INT16));
  EXPECT_EQ(0U, wire::element_bytes(CL_RGBA, 0x1234));
  EXPECT_EQ(0U, wire::element_bytes(0x1234, CL_FLOAT));
}

cl_image_desc description(cl_mem_object_type type, std::size_t width, std::size_t height = 0,
                          std::size_t depth = 0, std::size_t array_size = 0) {
  cl_image_desc made{};
  made.image_type = type;
  made.image_width = width;
  made.image_height = height;
  made.image_depth = depth;
  made.image_array_size = array_size;
  return made;
}

ImageShape shape_of(const cl_image_desc& described) {
  ImageShape shape;
  EXPECT_EQ(CL_SUCCESS, describe_image(&kBytes4, &described, shape));
  return shape;
}

TEST(ImageShape, PitchesOfZeroMeanNoGaps) {
  const ImageShape plane = shape_of(description(CL_MEM_OBJECT_IMAGE2D, 5, 3));
  EXPECT_EQ(20U, plane.row_pitch);
  EXPECT_EQ(0U, plane.slice_pitch);
  EXPECT_EQ(60U, plane.bytes());
  const ImageShape solid = shape_of(description(CL_MEM_OBJECT_IMAGE3D, 5, 3, 2));
  EXPECT_EQ(60U, solid.slice_pitch);
  EXPECT_EQ(120U, solid.bytes());
  const ImageShape rows = shape_of(description(CL_MEM_OBJECT_IMAGE1D_ARRAY, 5, 0, 0, 7));
  EXPECT_EQ(20U, rows.slice_pitch);
  EXPECT_EQ(140U, rows.bytes());
  const ImageShape planes = shape_of(description(CL_MEM_OBJECT_IMAGE2D_ARRAY, 5, 3, 0, 7));
  EXPECT_EQ(420U, planes.bytes());
}

TEST(ImageShape, PitchesMustHoldWholeRowsOfWholeElements) {
  ImageShape shape;
  cl_image_desc described = description(CL_MEM_OBJECT_IMAGE3D, 5, 3, 2);
  for (const std::size_t pitch : {std::size_t{19}, std::size_t{16}, std::size_t{22}}) {
    described.image_row_pitch = pitch;
    EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, describe_image(&kBytes4, &described, shape)) << pitch;
  }
  described.image_row_pitch = 24;
  for (const std::size_t pitch : {std::size_t{48}, std::size_t{73}}) {
    described.image_slice_pitch = pitch;
    EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, describe_image(&kBytes4, &described, shape)) << pitch;
  }
  described.image_slice_pitch = 96;
  EXPECT_EQ(CL_SUCCESS, describe_image(&kBytes4, &described, shape));
  EXPECT_EQ(192U, shape.bytes());
}

TEST(ImageShape, DescriptionsThatAreWrongForEveryDeviceAreRefused) {
  ImageShape shape;
  const cl_image_desc good = description(CL_MEM_OBJECT_IMAGE2D, 5, 3);
  EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, describe_image(nullptr, &good, shape));
  const cl_image_format strange{CL_RGB, CL_FLOAT};
  EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, describe_image(&strange, &good, shape));
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, describe_image(&kBytes4, nullptr, shape));
  const cl_image_desc no_image = description(CL_MEM_OBJECT_BUFFER, 5, 3);
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, describe_image(&kBytes4, &no_image, shape));
  const cl_image_desc empty = description(CL_MEM_OBJECT_IMAGE2D_ARRAY, 5, 3, 1, 0);
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, describe_image(&kBytes4, &empty, shape));
  cl_image_desc levels = good;
  levels.num_mip_levels = 2;
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, describe_image(&kBytes4, &levels, shape));
  const cl_image_desc wide = description(CL_MEM_OBJECT_IMAGE1D, SIZE_MAX / 2);
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, describe_image(&kBytes4, &wide, shape));
  const cl_image_desc huge = description(CL_MEM_OBJECT_IMAGE3D, 1U << 30, 1U << 30, 1U << 30);
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, describe_image(&kBytes4, &huge, shape));
}

TEST(ImageShape, BoxesLieInTheImageUpToItsLastElement) {
  const ImageShape planes = shape_of(description(CL_MEM_OBJECT_IMAGE2D_ARRAY, 5, 3, 0, 7));
  EXPECT_TRUE(planes.has_box({{4, 2, 6}, {1, 1, 1}}));
  EXPECT_FALSE(planes.has_box({{4, 2, 6}, {1, 1, 2}})) << "beyond the array";
  EXPECT_FALSE(planes.has_box({{0, 0, 0}, {1, 0, 1}})) << "empty";
  EXPECT_FALSE(planes.has_box({{SIZE_MAX, 0, 0}, {2, 1, 1}})) << "wraps around";
  const ImageShape rows = shape_of(description(CL_MEM_OBJECT_IMAGE1D_ARRAY, 5, 0, 0, 7));
  EXPECT_TRUE(rows.has_box({{0, 6, 0}, {5, 1, 1}}));
  EXPECT_FALSE(rows.has_box({{0, 0, 1}, {5, 1, 1}}));
  const ImageShape line = shape_of(description(CL_MEM_OBJECT_IMAGE1D, 5));
  EXPECT_FALSE(line.has_box({{0, 0, 0}, {5, 2, 1}}));
}

TEST(ImageShape, HostPitchesAreTheRegionsUnlessGiven) {
  const ImageShape solid = shape_of(description(CL_MEM_OBJECT_IMAGE3D, 5, 3, 2));
  RectLayout layout;
  ASSERT_TRUE(resolve_host_pitches(solid, {2, 3, 2}, 0, 0, layout));
  EXPECT_EQ(8U, layout.row_pitch);
  EXPECT_EQ(24U, layout.slice_pitch);
  EXPECT_FALSE(resolve_host_pitches(solid, {2, 3, 2}, 7, 0, layout));
  EXPECT_FALSE(resolve_host_pitches(solid, {2, 3, 2}, 10, 29, layout));
  ASSERT_TRUE(resolve_host_pitches(solid, {2, 3, 2}, 10, 31, layout)) << "no multiple is asked for";
  EXPECT_EQ(31U, layout.slice_pitch);
}

TEST(ImageShape, ImagesOfARowArrayAreASlicePitchApart) {
  const ImageShape rows = shape_of(description(CL_MEM_OBJECT_IMAGE1D_ARRAY, 5, 0, 0, 7));
  RectLayout layout;
  ASSERT_TRUE(resolve_host_pitches(rows, {5, 4, 1}, 20, 64, layout));
  EXPECT_EQ(64U, layout.row_pitch);
  const HostRegion host = host_box(rows, {5, 4, 1}, layout, nullptr);
  EXPECT_EQ(3U * 64 + 20, host.span());
  EXPECT_EQ(80U, host.bytes());
}

TEST(ImageShape, BoxesOverlapWhenTheyDoInEveryCoordinate) {
  EXPECT_TRUE(boxes_overlap({0, 0, 0}, {3, 1, 0}, {4, 2, 1}));
  EXPECT_FALSE(boxes_overlap({0, 0, 0}, {4, 0, 0}, {4, 2, 1}));
  EXPECT_FALSE(boxes_overlap({0, 2, 0}, {0, 0, 0}, {4, 2, 1}));
  EXPECT_FALSE(boxes_overlap({0, 0, 1}, {0, 0, 0}, {4, 2, 1}));
}

}  // namespace
}  // namespace fairgv::icd
