// Commands on images: looked up, checked, and given to the executor.
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "runtime/vgpu/opencl/backend.hpp"

namespace fairgv::vgpu::opencl {
namespace {

constexpr std::uint64_t kTooMuch = std::numeric_limits<std::uint64_t>::max();

__extension__ using Wide = unsigned __int128;

/// At least as many bytes of the arena as the driver touches for a box, whichever pitch it goes by.
std::uint64_t arena_bytes(const Image& image, const wire::Extent3& region, std::uint64_t row_pitch,
                          std::uint64_t slice_pitch) {
  // Beyond these no product below fits a 128-bit number; no image is so large.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (std::max({region.x, region.y, region.z, row_pitch, slice_pitch}) > kMost) return kTooMuch;
  if (region.x == 0 || region.y == 0 || region.z == 0) return 0;  // the driver refuses it
  const std::uint64_t row_bytes = region.x * image.element_bytes;
  std::uint64_t row = std::max(row_pitch, row_bytes);
  const bool is_row_array = image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  if (is_row_array) row = std::max(row, slice_pitch);
  const Wide slice = std::max(Wide{slice_pitch}, Wide{row} * region.y);
  const Wide span = slice * (region.z - 1) + Wide{row} * (region.y - 1) + row_bytes;
  return span < kTooMuch ? static_cast<std::uint64_t>(span) : kTooMuch;
}

/// Fills an image that is a row of a buffer's elements: fills an image of its own, which the driver knows how
/// to convert the color for, and copies that into the buffer as often as need be. `waits.event` is the last
/// copy's.
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

Result<void> Backend::handle(const wire::EnqueueReadImage& call) {
  const auto image = objects_.get<Image>(call.image);
  if (!image) return image.error();
  const auto host =
      arena(call.to, arena_bytes(*image.value(), call.region, call.row_pitch, call.slice_pitch));
  if (!host) return host.error();
  return transfer(
      call.command,
      [from = image.value(), origin = sizes(call.origin), region = sizes(call.region),
       row_pitch = call.row_pitch, slice_pitch = call.slice_pitch,
       to = host.value()](cl_command_queue queue, const Waits& waits) {
        return clEnqueueReadImage(queue, from->handle.get(), CL_FALSE, origin.data(), region.data(),
                                  row_pitch, slice_pitch, to, waits.count, waits.list, waits.event);
      },
      image.value());
}

Result<void> Backend::handle(const wire::EnqueueWriteImage& call) {
  const auto image = objects_.get<Image>(call.image);
  if (!image) return image.error();
  const auto host =
      arena(call.from, arena_bytes(*image.value(), call.region, call.row_pitch, call.slice_pitch));
  if (!host) return host.error();
  return transfer(
      call.command,
      [to = image.value(), origin = sizes(call.origin), region = sizes(call.region),
       row_pitch = call.row_pitch, slice_pitch = call.slice_pitch,
       from = host.value()](cl_command_queue queue, const Waits& waits) {
        return clEnqueueWriteImage(queue, to->handle.get(), CL_FALSE, origin.data(), region.data(), row_pitch,
                                   slice_pitch, from, waits.count, waits.list, waits.event);
      },
      image.value());
}

Result<void> Backend::handle(const wire::EnqueueCopyImage& call) {
  const auto source = objects_.get<Image>(call.source);
  if (!source) return source.error();
  const auto destination = objects_.get<Image>(call.destination);
  if (!destination) return destination.error();
  return transfer(
      call.command,
      [from = source.value(), to = destination.value(), source_origin = sizes(call.source_origin),
       destination_origin = sizes(call.destination_origin),
       region = sizes(call.region)](cl_command_queue queue, const Waits& waits) {
        return clEnqueueCopyImage(queue, from->handle.get(), to->handle.get(), source_origin.data(),
                                  destination_origin.data(), region.data(), waits.count, waits.list,
                                  waits.event);
      },
      source.value(), destination.value());
}

// An image that is a row of a buffer's elements is copied as what it is, and filled by copies: some drivers
// (PoCL 3.1) do not survive copying or filling it as an image.

Result<void> Backend::handle(const wire::EnqueueCopyImageToBuffer& call) {
  const auto image = objects_.get<Image>(call.image);
  if (!image) return image.error();
  const auto buffer = objects_.get<Buffer>(call.buffer);
  if (!buffer) return buffer.error();
  return transfer(
      call.command,
      [from = image.value(), to = buffer.value(), origin = sizes(call.origin), region = sizes(call.region),
       offset = call.offset](cl_command_queue queue, const Waits& waits) {
        if (from->buffer) {
          return clEnqueueCopyBuffer(queue, from->buffer->handle.get(), to->handle.get(),
                                     origin[0] * from->element_bytes, offset, region[0] * from->element_bytes,
                                     waits.count, waits.list, waits.event);
        }
        return clEnqueueCopyImageToBuffer(queue, from->handle.get(), to->handle.get(), origin.data(),
                                          region.data(), offset, waits.count, waits.list, waits.event);
      },
      image.value(), buffer.value());
}

Result<void> Backend::handle(const wire::EnqueueCopyBufferToImage& call) {
  const auto buffer = objects_.get<Buffer>(call.buffer);
  if (!buffer) return buffer.error();
  const auto image = objects_.get<Image>(call.image);
  if (!image) return image.error();
  return transfer(
      call.command,
      [from = buffer.value(), to = image.value(), origin = sizes(call.origin), region = sizes(call.region),
       offset = call.offset](cl_command_queue queue, const Waits& waits) {
        if (to->buffer) {
          return clEnqueueCopyBuffer(queue, from->handle.get(), to->buffer->handle.get(), offset,
                                     origin[0] * to->element_bytes, region[0] * to->element_bytes,
                                     waits.count, waits.list, waits.event);
        }
        return clEnqueueCopyBufferToImage(queue, from->handle.get(), to->handle.get(), offset, origin.data(),
                                          region.data(), waits.count, waits.list, waits.event);
      },
      buffer.value(), image.value());
}

Result<void> Backend::handle(const wire::EnqueueFillImage& call) {
  const auto image = objects_.get<Image>(call.image);
  if (!image) return image.error();
  return transfer(
      call.command,
      [to = image.value(), color = call.color, origin = sizes(call.origin), region = sizes(call.region)](
          cl_command_queue queue, const Waits& waits) {
        if (to->buffer) return fill_buffer_image(queue, *to, color.data(), origin[0], region[0], waits);
        return clEnqueueFillImage(queue, to->handle.get(), color.data(), origin.data(), region.data(),
                                  waits.count, waits.list, waits.event);
      },
      image.value());
}

}  // namespace fairgv::vgpu::opencl
