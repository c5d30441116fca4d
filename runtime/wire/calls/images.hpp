// Images, samplers, pipes.
#pragma once

#include <cstdint>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

/// A cl_image_format, and the part of a cl_image_desc that the worker needs. Contents travel without gaps, so
/// only an image that lies in another memory object has a row pitch of its own.
struct ImageDescription {
  std::uint32_t channel_order = 0;
  std::uint32_t channel_type = 0;
  std::uint32_t type = 0;  // cl_mem_object_type
  std::uint64_t width = 0, height = 0, depth = 0, array_size = 0;
  std::uint64_t row_pitch = 0;  // bytes, or 0
  FAIRGV_FIELDS(channel_order, channel_type, type, width, height, depth, array_size, row_pitch)
};

/// The driver's cl_image_format array.
struct GetSupportedImageFormats {
  FAIRGV_CALL(GetSupportedImageFormats, 0x0310, InfoReply)
  ObjectId context;
  std::uint64_t flags = 0;  // cl_mem_flags
  std::uint32_t type = 0;   // cl_mem_object_type
  FAIRGV_FIELDS(context, flags, type)
};

struct CreateImage {
  FAIRGV_CALL(CreateImage, 0x0311, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  std::uint64_t flags = 0;  // as in CreateBuffer
  ImageDescription description;
  ArenaRange initial;  // initial contents, or bytes == 0
  FAIRGV_FIELDS(id, context, flags, description, initial)
};

/// An image in the memory of a buffer or of another image. Only the driver knows which ones it takes.
struct CreateImageFromMemory {
  FAIRGV_CALL(CreateImageFromMemory, 0x0312, StatusReply)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId memory;
  std::uint64_t flags = 0;
  ImageDescription description;
  FAIRGV_FIELDS(id, memory, flags, description)
};

/// Whether buffers of the context may lie in the host's memory, on devices that share it. Not CL_SUCCESS:
/// they are to be the driver's own. Some drivers make images of their own buffers only, as Mesa's does for
/// devices without an alignment for them; and where the device's memory is lent, buffers have to be able to
/// leave it.
struct CheckHostMemory {
  FAIRGV_CALL(CheckHostMemory, 0x0315, StatusReply)
  ObjectId context;
  FAIRGV_FIELDS(context)
};

struct CreateSampler {
  FAIRGV_CALL(CreateSampler, 0x0313, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  std::uint32_t normalized_coordinates = 0;  // cl_bool
  std::uint32_t addressing_mode = 0;         // cl_addressing_mode
  std::uint32_t filter_mode = 0;             // cl_filter_mode
  FAIRGV_FIELDS(id, context, normalized_coordinates, addressing_mode, filter_mode)
};

struct CreatePipe {
  FAIRGV_CALL(CreatePipe, 0x0314, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  std::uint64_t flags = 0;
  std::uint32_t packet_bytes = 0;
  std::uint32_t max_packets = 0;
  FAIRGV_FIELDS(id, context, flags, packet_bytes, max_packets)
};

/// Bytes that a pipe is charged for: a ring of packets with one place that stays free.
constexpr std::uint64_t pipe_bytes(std::uint32_t packet_bytes, std::uint32_t max_packets) {
  return packet_bytes * (std::uint64_t{max_packets} + 1);
}

using ImageCalls = TypeList<GetSupportedImageFormats, CreateImage, CreateImageFromMemory, CheckHostMemory,
                            CreateSampler, CreatePipe>;

}  // namespace fairgv::wire
