// Copies and fills of images, checked and put into calls: as copy_calls.hpp does for buffers
// (OpenCL 3.0, 5.3.3 to 5.3.5). Any thread.
#pragma once

#include <cstddef>

#include "icd/objects/queue.hpp"
#include "runtime/wire/calls/image_commands.hpp"

namespace fairgv::icd {

/// A copy from one image to another, as the application gives it.
struct ImageCopy {
  cl_mem source;
  cl_mem destination;
  const size_t* source_origin;
  const size_t* destination_origin;
  const size_t* region;
};

/// clEnqueueCopyImage.
cl_int make_copy(const Queue& queue, const ImageCopy& copy, wire::EnqueueCopyImage& call);

/// A copy between an image and a buffer, in either direction.
struct ImageBufferCopy {
  cl_mem image;
  cl_mem buffer;
  const size_t* origin;
  const size_t* region;
  std::size_t offset;  // in the buffer
};

/// clEnqueueCopyImageToBuffer.
cl_int make_copy(const Queue& queue, const ImageBufferCopy& copy, wire::EnqueueCopyImageToBuffer& call);
/// clEnqueueCopyBufferToImage.
cl_int make_copy(const Queue& queue, const ImageBufferCopy& copy, wire::EnqueueCopyBufferToImage& call);

/// clEnqueueFillImage.
cl_int make_fill(const Queue& queue, cl_mem image, const void* color, const size_t* origin,
                 const size_t* region, wire::EnqueueFillImage& call);

}  // namespace fairgv::icd
