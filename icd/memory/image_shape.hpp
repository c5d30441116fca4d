// The shape of an image: its type, format, sizes and pitches, which boxes lie in it, and how it lies in the
// host's memory (OpenCL 3.0, 5.3.1.2). Pure; any thread.
#pragma once

#include <cstdint>

#include "icd/cl.hpp"
#include "icd/memory/host_region.hpp"

namespace fairgv::icd {

/// A box of an image, in elements. In an array, the image's index is the last coordinate that the type has:
/// y for arrays of 1D images, z for arrays of 2D images.
struct ImageBox {
  wire::Extent3 origin;
  wire::Extent3 region;
};

struct ImageShape {
  cl_image_format format{};
  cl_mem_object_type type = 0;
  std::uint64_t width = 0;       // in elements
  std::uint64_t height = 0;      // 0 unless the images have two dimensions or more
  std::uint64_t depth = 0;       // 0 unless they have three
  std::uint64_t array_size = 0;  // 0 unless it is an array
  std::uint64_t element_bytes = 0;
  std::uint64_t row_pitch = 0;    // bytes
  std::uint64_t slice_pitch = 0;  // bytes; 0 unless the image has three dimensions or is an array

  bool is_array() const { return type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY; }
  /// The size in the coordinates of boxes; 1 in coordinates that the type does not have.
  wire::Extent3 extent() const;
  /// Bytes of the whole image with its pitches.
  std::uint64_t bytes() const;
  /// The image's own pitches, as boxes step through them.
  RectLayout layout() const;
  /// Whether the box is not empty and lies in the image; safe against overflow.
  bool has_box(const ImageBox& box) const;
};

/// The shape that an application describes. CL_SUCCESS or the error that clCreateImage has for a description
/// that is wrong for every device: CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, CL_INVALID_IMAGE_DESCRIPTOR,
/// CL_INVALID_IMAGE_SIZE (more bytes than can be counted). Pitches of 0 are filled in.
cl_int describe_image(const cl_image_format* format, const cl_image_desc* description, ImageShape& shape);

/// The steps in host memory meant by the pitches that an application gives for a box of the image; false if
/// they are too small (CL_INVALID_VALUE).
bool resolve_host_pitches(const ImageShape& shape, const wire::Extent3& region, std::uint64_t row_pitch,
                          std::uint64_t slice_pitch, RectLayout& layout);

/// A box of the image in host memory, its first element at `address`.
HostRegion host_box(const ImageShape& shape, const wire::Extent3& region, const RectLayout& layout,
                    const void* address);

/// Whether two boxes of the same size share an element.
bool boxes_overlap(const wire::Extent3& a, const wire::Extent3& b, const wire::Extent3& region);

}  // namespace fairgv::icd
