#include "icd/memory/image_shape.hpp"

#include <algorithm>

#include "runtime/wire/image_format.hpp"

namespace fairgv::icd {
namespace {

bool has_height(cl_mem_object_type type) {
  return type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
         type == CL_MEM_OBJECT_IMAGE3D;
}

bool is_image_type(cl_mem_object_type type) {
  return has_height(type) || type == CL_MEM_OBJECT_IMAGE1D || type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
         type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

bool fits(std::uint64_t origin, std::uint64_t region, std::uint64_t size) {
  return region != 0 && origin <= size && region <= size - origin;
}

bool near(std::uint64_t a, std::uint64_t b, std::uint64_t size) {
  return (a < b ? b - a : a - b) < size;
}

/// Fills in the row pitch, or checks the given one.
cl_int resolve_row_pitch(std::uint64_t given, ImageShape& shape) {
  std::uint64_t row_bytes = 0;
  if (__builtin_mul_overflow(shape.width, shape.element_bytes, &row_bytes)) return CL_INVALID_IMAGE_SIZE;
  shape.row_pitch = given == 0 ? row_bytes : given;
  const bool right = shape.row_pitch >= row_bytes && shape.row_pitch % shape.element_bytes == 0;
  return right ? CL_SUCCESS : CL_INVALID_IMAGE_DESCRIPTOR;
}

/// The same for the slice pitch; types without slices ignore the given pitch.
cl_int resolve_slice_pitch(std::uint64_t given, ImageShape& shape) {
  if (!shape.is_array() && shape.type != CL_MEM_OBJECT_IMAGE3D) return CL_SUCCESS;
  std::uint64_t slice_bytes = 0;
  if (__builtin_mul_overflow(shape.row_pitch, std::max<std::uint64_t>(shape.height, 1), &slice_bytes)) {
    return CL_INVALID_IMAGE_SIZE;
  }
  shape.slice_pitch = given == 0 ? slice_bytes : given;
  const bool right = shape.slice_pitch >= slice_bytes && shape.slice_pitch % shape.row_pitch == 0;
  return right ? CL_SUCCESS : CL_INVALID_IMAGE_DESCRIPTOR;
}

/// Distance and number of the largest pieces that an image consists of: slices, or else rows.
struct Pieces {
  std::uint64_t pitch;
  std::uint64_t count;
};

Pieces pieces_of(const ImageShape& shape) {
  if (shape.slice_pitch != 0) return {shape.slice_pitch, std::max(shape.depth, shape.array_size)};
  return {shape.row_pitch, std::max<std::uint64_t>(shape.height, 1)};
}

bool is_countable(const ImageShape& shape) {
  const Pieces pieces = pieces_of(shape);
  std::uint64_t bytes = 0;
  return !__builtin_mul_overflow(pieces.pitch, pieces.count, &bytes);
}

}  // namespace

wire::Extent3 ImageShape::extent() const {
  if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY) return {width, array_size, 1};
  if (type == CL_MEM_OBJECT_IMAGE2D_ARRAY) return {width, height, array_size};
  return {width, std::max<std::uint64_t>(height, 1), std::max<std::uint64_t>(depth, 1)};
}

RectLayout ImageShape::layout() const {
  if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY) return {slice_pitch, slice_pitch * array_size};
  return {row_pitch, slice_pitch != 0 ? slice_pitch : row_pitch * std::max<std::uint64_t>(height, 1)};
}

std::uint64_t ImageShape::bytes() const {
  const Pieces pieces = pieces_of(*this);
  return pieces.pitch * pieces.count;
}

bool ImageShape::has_box(const ImageBox& box) const {
  const wire::Extent3 size = extent();
  return fits(box.origin.x, box.region.x, size.x) && fits(box.origin.y, box.region.y, size.y) &&
         fits(box.origin.z, box.region.z, size.z);
}

cl_int describe_image(const cl_image_format* format, const cl_image_desc* description, ImageShape& shape) {
  if (format == nullptr) return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
  shape.format = *format;
  shape.element_bytes = wire::element_bytes(format->image_channel_order, format->image_channel_data_type);
  if (shape.element_bytes == 0) return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
  if (description == nullptr || !is_image_type(description->image_type)) return CL_INVALID_IMAGE_DESCRIPTOR;
  if (description->num_mip_levels != 0 || description->num_samples != 0) return CL_INVALID_IMAGE_DESCRIPTOR;
  shape.type = description->image_type;
  shape.width = description->image_width;
  if (has_height(shape.type)) shape.height = description->image_height;
  if (shape.type == CL_MEM_OBJECT_IMAGE3D) shape.depth = description->image_depth;
  if (shape.is_array()) shape.array_size = description->image_array_size;
  const bool empty = shape.width == 0 || (has_height(shape.type) && shape.height == 0) ||
                     (shape.type == CL_MEM_OBJECT_IMAGE3D && shape.depth == 0) ||
                     (shape.is_array() && shape.array_size == 0);
  if (empty) return CL_INVALID_IMAGE_DESCRIPTOR;
  if (const cl_int error = resolve_row_pitch(description->image_row_pitch, shape)) return error;
  if (const cl_int error = resolve_slice_pitch(description->image_slice_pitch, shape)) return error;
  return is_countable(shape) ? CL_SUCCESS : CL_INVALID_IMAGE_SIZE;
}

bool resolve_host_pitches(const ImageShape& shape, const wire::Extent3& region, std::uint64_t row_pitch,
                          std::uint64_t slice_pitch, RectLayout& layout) {
  const std::uint64_t row_bytes = region.x * shape.element_bytes;
  if (row_pitch == 0) row_pitch = row_bytes;
  if (row_pitch < row_bytes) return false;
  const bool rows_in_slices = shape.type != CL_MEM_OBJECT_IMAGE1D_ARRAY;
  std::uint64_t slice_bytes = row_pitch;
  if (rows_in_slices && __builtin_mul_overflow(row_pitch, region.y, &slice_bytes)) return false;
  // Only images with slices have a slice pitch; for others it should be 0 and means nothing.
  if (slice_pitch == 0 || shape.slice_pitch == 0) slice_pitch = slice_bytes;
  if (slice_pitch < slice_bytes) return false;
  layout = rows_in_slices ? RectLayout{row_pitch, slice_pitch} : RectLayout{slice_pitch, slice_pitch};
  return true;
}

HostRegion host_box(const ImageShape& shape, const wire::Extent3& region, const RectLayout& layout,
                    const void* address) {
  HostRegion host = HostRegion::flat(address, region.x * shape.element_bytes);
  host.region.y = region.y;
  host.region.z = region.z;
  host.row_pitch = layout.row_pitch;
  host.slice_pitch = layout.slice_pitch;
  return host;
}

bool boxes_overlap(const wire::Extent3& a, const wire::Extent3& b, const wire::Extent3& region) {
  return near(a.x, b.x, region.x) && near(a.y, b.y, region.y) && near(a.z, b.z, region.z);
}

}  // namespace fairgv::icd
