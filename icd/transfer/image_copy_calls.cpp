#include "icd/transfer/image_copy_calls.hpp"

#include <cstring>

#include "icd/checks.hpp"
#include "icd/memory/image.hpp"

namespace fairgv::icd {
namespace {

bool same_format(const ImageShape& a, const ImageShape& b) {
  return a.format.image_channel_order == b.format.image_channel_order &&
         a.format.image_channel_data_type == b.format.image_channel_data_type;
}

/// Images in buffers are copied as buffers (OpenCL 3.0, 5.3.4).
bool is_copyable(const Memory& memory) {
  return memory.image()->type != CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

/// Either direction: the two calls have the same fields.
template <class Call>
cl_int make_buffer_copy(const Queue& queue, const ImageBufferCopy& copy, Call& call) {
  const Memory* const image = downcast<Memory>(copy.image);
  const Memory* const buffer = downcast<Memory>(copy.buffer);
  if (const cl_int error = check_image(queue, image)) return error;
  if (const cl_int error = check_buffer(queue, buffer)) return error;
  ImageBox box;
  if (const cl_int error = read_box(*image->image(), copy.origin, copy.region, box)) return error;
  // The box lies in the image, so its bytes can be counted.
  const std::uint64_t bytes = box.region.x * box.region.y * box.region.z * image->image()->element_bytes;
  if (!buffer->has_range(copy.offset, bytes)) return CL_INVALID_VALUE;
  call.image = image->id();
  call.buffer = buffer->id();
  call.origin = box.origin;
  call.region = box.region;
  call.offset = copy.offset;
  return CL_SUCCESS;
}

}  // namespace

cl_int make_copy(const Queue& queue, const ImageCopy& copy, wire::EnqueueCopyImage& call) {
  const Memory* const source = downcast<Memory>(copy.source);
  const Memory* const destination = downcast<Memory>(copy.destination);
  if (const cl_int error = check_image(queue, source)) return error;
  if (const cl_int error = check_image(queue, destination)) return error;
  if (!is_copyable(*source) || !is_copyable(*destination)) return CL_INVALID_MEM_OBJECT;
  if (!same_format(*source->image(), *destination->image())) return CL_IMAGE_FORMAT_MISMATCH;
  ImageBox from;
  ImageBox to;
  if (const cl_int error = read_box(*source->image(), copy.source_origin, copy.region, from)) return error;
  if (const cl_int error = read_box(*destination->image(), copy.destination_origin, copy.region, to))
    return error;
  if (source == destination && boxes_overlap(from.origin, to.origin, to.region)) return CL_MEM_COPY_OVERLAP;
  call = {{}, source->id(), destination->id(), from.origin, to.origin, to.region};
  return CL_SUCCESS;
}

cl_int make_copy(const Queue& queue, const ImageBufferCopy& copy, wire::EnqueueCopyImageToBuffer& call) {
  return make_buffer_copy(queue, copy, call);
}

cl_int make_copy(const Queue& queue, const ImageBufferCopy& copy, wire::EnqueueCopyBufferToImage& call) {
  return make_buffer_copy(queue, copy, call);
}

cl_int make_fill(const Queue& queue, cl_mem image, const void* color, const size_t* origin,
                 const size_t* region, wire::EnqueueFillImage& call) {
  const Memory* const filled = downcast<Memory>(image);
  if (const cl_int error = check_image(queue, filled)) return error;
  if (color == nullptr) return CL_INVALID_VALUE;
  ImageBox box;
  if (const cl_int error = read_box(*filled->image(), origin, region, box)) return error;
  call = {{}, filled->id(), box.origin, box.region, {}};
  // The color of a depth image is one number.
  const bool one_number = filled->image()->format.image_channel_order == CL_DEPTH;
  std::memcpy(call.color.data(), color, one_number ? sizeof(call.color[0]) : sizeof(call.color));
  return CL_SUCCESS;
}

}  // namespace fairgv::icd
