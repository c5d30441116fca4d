// Making images, and the checks of commands on images. Any thread may call any function.
#pragma once

#include <vector>

#include "icd/api/entry.hpp"
#include "icd/memory/memory.hpp"
#include "icd/objects/queue.hpp"

namespace fairgv::icd {

/// The arguments of clCreateImageWithProperties.
struct ImageRequest {
  std::vector<cl_mem_properties> properties;
  cl_mem_flags flags;
  const cl_image_format* format;
  const cl_image_desc* description;
  void* host_pointer;
};

/// Checks the request and makes the image. For an image in another object's memory the driver is asked, which
/// alone knows what it can share. Any other image is made without waiting.
Outcome<cl_mem> make_image(Context& context, ImageRequest request);

/// Whether some device of the context has images (and samplers).
bool has_images(const Context& context);

/// The predicate of commands on images: CL_SUCCESS, CL_INVALID_MEM_OBJECT, CL_INVALID_CONTEXT, or, in a
/// context of several devices, the error for an image that the queue's device does not support (OpenCL 3.0,
/// 5.3.3: CL_INVALID_OPERATION, CL_INVALID_IMAGE_SIZE).
cl_int check_image(const Queue& queue, const Memory* memory);

/// The box at `origin` and `region` (both null or three numbers), checked: CL_SUCCESS or CL_INVALID_VALUE.
cl_int read_box(const ImageShape& image, const size_t* origin, const size_t* region, ImageBox& box);

}  // namespace fairgv::icd
