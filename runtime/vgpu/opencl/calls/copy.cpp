// Copies and fills on a queue.
#include <algorithm>
#include <array>

#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// Fills an image that is a row of a buffer's elements: fills a temporary image, for which the driver
/// converts the color, and copies it into the buffer as often as needed. `waits.event` is the last copy's.
cl_int fill_buffer_image(cl_command_queue queue, const Image& image, const void* color, std::size_t first,
                         std::size_t count, const Waits& waits) {
  constexpr std::size_t kMostElements = 2048;  // every device has images of this width
  constexpr std::array<std::size_t, 3> kStart{0, 0, 0};
  std::array<std::size_t, 3> region{std::min(count, kMostElements), 1, 1};
  cl_image_format format{};
  cl_int error = clGetImageInfo(image.handle.get(), CL_IMAGE_FORMAT, sizeof(format), &format, nullptr);
  if (error != CL_SUCCESS) return error;
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE1D;
  description.image_width = region[0];
  const MemoryHandle filled(
      clCreateImage(image.context->handle.get(), CL_MEM_READ_WRITE, &format, &description, nullptr, &error));
  if (error != CL_SUCCESS) return error;
  EventHandle before;
  error = clEnqueueFillImage(queue, filled.get(), color, kStart.data(), region.data(), waits.count,
                             waits.list, before.receive());
  for (std::size_t done = 0; error == CL_SUCCESS && done < count; done += region[0]) {
    region[0] = std::min(count - done, kMostElements);
    const bool last = done + region[0] == count;
    EventHandle copied;
    const cl_event previous = before.get();
    error = clEnqueueCopyImageToBuffer(queue, filled.get(), image.buffer->handle.get(), kStart.data(),
                                       region.data(), (first + done) * image.element_bytes, 1, &previous,
                                       last ? waits.event : copied.receive());
    before = std::move(copied);
  }
  return error;
}

}  // namespace

Result<void> Handlers::handle(const wire::EnqueueCopyBuffer& call) {
  return enqueue(call, describe(call));
}

Result<void> Handlers::handle(const wire::EnqueueCopyBufferRect& call) {
  return enqueue(call, describe(call));
}

Result<void> Handlers::handle(const wire::EnqueueFillBuffer& call) {
  return enqueue(call, describe(call));
}

Result<void> Handlers::handle(const wire::EnqueueCopyImage& call) {
  return enqueue(call, describe(call));
}

Result<void> Handlers::handle(const wire::EnqueueCopyImageToBuffer& call) {
  return enqueue(call, describe(call));
}

Result<void> Handlers::handle(const wire::EnqueueCopyBufferToImage& call) {
  return enqueue(call, describe(call));
}

// An image that is a row of a buffer's elements is filled by copies: some drivers (PoCL 3.1) do not survive
// filling it as an image.
Result<void> Handlers::handle(const wire::EnqueueFillImage& call) {
  FAIRGV_TRY(image, objects_.get<Image>(call.image));
  if (!image.value()->buffer) return enqueue(call, describe(call));
  if (!fits(call, *image.value())) return Error{kBeyondBounds};
  return enqueue(
      call,
      [color = call.color, first = call.origin.x, count = call.region.x](const ToQueue& to,
                                                                         const Image& filled) {
        return fill_buffer_image(to.queue, filled, color.data(), first, count, to.waits);
      },
      image.value());
}

}  // namespace fairgv::vgpu::opencl
