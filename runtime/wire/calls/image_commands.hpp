// Commands on images: read, write, copy, fill.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/commands.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

/// A box of an image to the arena. `origin` and `region` are in elements, in the driver's coordinates;
/// pitches are those in the arena, 0: no gaps. A map that keeps the contents does the same.
struct EnqueueReadImage {
  FAIRGV_CALL(EnqueueReadImage, 0x0610, void)
  Command command;
  ObjectId image;
  Extent3 origin, region;
  std::uint64_t row_pitch = 0, slice_pitch = 0;
  ArenaRange to;
  FAIRGV_FIELDS(command, image, origin, region, row_pitch, slice_pitch, to)
};

struct EnqueueWriteImage {
  FAIRGV_CALL(EnqueueWriteImage, 0x0611, void)
  Command command;
  ObjectId image;
  Extent3 origin, region;
  std::uint64_t row_pitch = 0, slice_pitch = 0;
  ArenaRange from;
  FAIRGV_FIELDS(command, image, origin, region, row_pitch, slice_pitch, from)
};

struct EnqueueCopyImage {
  FAIRGV_CALL(EnqueueCopyImage, 0x0612, void)
  Command command;
  ObjectId source, destination;
  Extent3 source_origin, destination_origin, region;
  FAIRGV_FIELDS(command, source, destination, source_origin, destination_origin, region)
};

struct EnqueueCopyImageToBuffer {
  FAIRGV_CALL(EnqueueCopyImageToBuffer, 0x0613, void)
  Command command;
  ObjectId image, buffer;
  Extent3 origin, region;
  std::uint64_t offset = 0;  // in the buffer
  FAIRGV_FIELDS(command, image, buffer, origin, region, offset)
};

struct EnqueueCopyBufferToImage {
  FAIRGV_CALL(EnqueueCopyBufferToImage, 0x0614, void)
  Command command;
  ObjectId buffer, image;
  Extent3 origin, region;
  std::uint64_t offset = 0;  // in the buffer
  FAIRGV_FIELDS(command, buffer, image, origin, region, offset)
};

struct EnqueueFillImage {
  FAIRGV_CALL(EnqueueFillImage, 0x0615, void)
  Command command;
  ObjectId image;
  Extent3 origin, region;
  std::array<std::uint32_t, 4> color{};  // four numbers of the kind that the format asks for
  FAIRGV_FIELDS(command, image, origin, region, color)
};

using ImageCommandCalls = TypeList<EnqueueReadImage, EnqueueWriteImage, EnqueueCopyImage,
                                   EnqueueCopyImageToBuffer, EnqueueCopyBufferToImage, EnqueueFillImage>;

}  // namespace fairgv::wire
