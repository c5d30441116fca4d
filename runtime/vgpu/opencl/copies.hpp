// Copies and fills, each described once: for a queue, which runs them, and for a command buffer, which
// records them. The driver's two functions differ only in their first and last arguments.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/vgpu/opencl/command_buffer.hpp"
#include "runtime/vgpu/opencl/commands.hpp"
#include "runtime/vgpu/opencl/objects.hpp"
#include "runtime/wire/calls/buffer_commands.hpp"
#include "runtime/wire/calls/image_commands.hpp"

namespace fairgv::vgpu::opencl {

inline constexpr DriverCommand kCopyBuffer{&clEnqueueCopyBuffer, &CommandBufferFunctions::copy_buffer};
inline constexpr DriverCommand kCopyBufferRect{&clEnqueueCopyBufferRect,
                                               &CommandBufferFunctions::copy_buffer_rect};
inline constexpr DriverCommand kFillBuffer{&clEnqueueFillBuffer, &CommandBufferFunctions::fill_buffer};
inline constexpr DriverCommand kCopyImage{&clEnqueueCopyImage, &CommandBufferFunctions::copy_image};
inline constexpr DriverCommand kCopyImageToBuffer{&clEnqueueCopyImageToBuffer,
                                                  &CommandBufferFunctions::copy_image_to_buffer};
inline constexpr DriverCommand kCopyBufferToImage{&clEnqueueCopyBufferToImage,
                                                  &CommandBufferFunctions::copy_buffer_to_image};
inline constexpr DriverCommand kFillImage{&clEnqueueFillImage, &CommandBufferFunctions::fill_image};

/// Hands a command to a command buffer of the driver's.
struct ToCommandBuffer {
  const CommandBuffer& buffer;
  const RecordWaits& waits;

  template <class Command, class... Arguments>
  cl_int operator()(const Command& command, Arguments... arguments) const {
    const auto record = buffer.driver.*command.record;
    return record(buffer.handle, nullptr, arguments..., waits.count, waits.list, waits.own, nullptr);
  }
};

/// An object of class T that a command uses.
template <class T>
struct Use {
  wire::ObjectId id;
};

/// The objects that a copy or fill uses, and its arguments: `send(to, objects...)` hands it over; `to` is one
/// of the above.
template <class Send, class... T>
struct Copy {
  Copy(Send how, Use<T>... what) : send(std::move(how)), uses(what...) {}

  Send send;
  std::tuple<Use<T>...> uses;
};

inline auto describe(const wire::EnqueueCopyBuffer& call) {
  return Copy(
      [from = call.source_offset, at = call.destination_offset, bytes = call.bytes](
          const auto& to, const Buffer& source, const Buffer& destination) {
        return to(kCopyBuffer, source.handle.get(), destination.handle.get(), from, at, bytes);
      },
      Use<Buffer>{call.source}, Use<Buffer>{call.destination});
}

inline auto describe(const wire::EnqueueCopyBufferRect& call) {
  return Copy(
      [from = sizes(call.source_origin), at = sizes(call.destination_origin), region = sizes(call.region),
       source_row_pitch = call.source_row_pitch, source_slice_pitch = call.source_slice_pitch,
       row_pitch = call.destination_row_pitch, slice_pitch = call.destination_slice_pitch](
          const auto& to, const Buffer& source, const Buffer& destination) {
        return to(kCopyBufferRect, source.handle.get(), destination.handle.get(), from.data(), at.data(),
                  region.data(), source_row_pitch, source_slice_pitch, row_pitch, slice_pitch);
      },
      Use<Buffer>{call.source}, Use<Buffer>{call.destination});
}

inline auto describe(const wire::EnqueueFillBuffer& call) {
  return Copy(
      [pattern = std::vector<std::byte>(call.pattern.begin(), call.pattern.end()), offset = call.offset,
       bytes = call.bytes](const auto& to, const Buffer& buffer) {
        return to(kFillBuffer, buffer.handle.get(), pattern.data(), pattern.size(), offset, bytes);
      },
      Use<Buffer>{call.buffer});
}

inline auto describe(const wire::EnqueueCopyImage& call) {
  return Copy(
      [from = sizes(call.source_origin), at = sizes(call.destination_origin), region = sizes(call.region)](
          const auto& to, const Image& source, const Image& destination) {
        return to(kCopyImage, source.handle.get(), destination.handle.get(), from.data(), at.data(),
                  region.data());
      },
      Use<Image>{call.source}, Use<Image>{call.destination});
}

// An image that is a row of a buffer's elements is copied as a buffer: some drivers (PoCL 3.1) do not survive
// copying it as an image.

inline auto describe(const wire::EnqueueCopyImageToBuffer& call) {
  return Copy(
      [origin = sizes(call.origin), region = sizes(call.region), offset = call.offset](
          const auto& to, const Image& image, const Buffer& buffer) {
        if (image.buffer) {
          return to(kCopyBuffer, image.buffer->handle.get(), buffer.handle.get(),
                    origin[0] * image.element_bytes, offset, region[0] * image.element_bytes);
        }
        return to(kCopyImageToBuffer, image.handle.get(), buffer.handle.get(), origin.data(), region.data(),
                  offset);
      },
      Use<Image>{call.image}, Use<Buffer>{call.buffer});
}

inline auto describe(const wire::EnqueueCopyBufferToImage& call) {
  return Copy(
      [origin = sizes(call.origin), region = sizes(call.region), offset = call.offset](
          const auto& to, const Buffer& buffer, const Image& image) {
        if (image.buffer) {
          return to(kCopyBuffer, buffer.handle.get(), image.buffer->handle.get(), offset,
                    origin[0] * image.element_bytes, region[0] * image.element_bytes);
        }
        return to(kCopyBufferToImage, buffer.handle.get(), image.handle.get(), offset, origin.data(),
                  region.data());
      },
      Use<Buffer>{call.buffer}, Use<Image>{call.image});
}

inline auto describe(const wire::EnqueueFillImage& call) {
  return Copy(
      [color = call.color, origin = sizes(call.origin), region = sizes(call.region)](const auto& to,
                                                                                     const Image& image) {
        return to(kFillImage, image.handle.get(), color.data(), origin.data(), region.data());
      },
      Use<Image>{call.image});
}

}  // namespace fairgv::vgpu::opencl
