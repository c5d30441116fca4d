// Commands on buffers: read, write, copy, fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/commands.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

/// Buffer to arena. A map that keeps the contents does the same.
struct EnqueueReadBuffer {
  FAIRGV_CALL(EnqueueReadBuffer, 0x0601, void)
  Command command;
  ObjectId buffer;
  std::uint64_t offset = 0;
  ArenaRange to;
  FAIRGV_FIELDS(command, buffer, offset, to)
};

/// Arena to buffer. Unmapping a written region does the same.
struct EnqueueWriteBuffer {
  FAIRGV_CALL(EnqueueWriteBuffer, 0x0602, void)
  Command command;
  ObjectId buffer;
  std::uint64_t offset = 0;
  ArenaRange from;
  FAIRGV_FIELDS(command, buffer, offset, from)
};

/// Rectangle of a buffer to the arena, where it lies without gaps (region.x * region.y * region.z bytes).
struct EnqueueReadBufferRect {
  FAIRGV_CALL(EnqueueReadBufferRect, 0x0603, void)
  Command command;
  ObjectId buffer;
  Extent3 origin, region;
  std::uint64_t row_pitch = 0, slice_pitch = 0;
  ArenaRange to;
  FAIRGV_FIELDS(command, buffer, origin, region, row_pitch, slice_pitch, to)
};

struct EnqueueWriteBufferRect {
  FAIRGV_CALL(EnqueueWriteBufferRect, 0x0604, void)
  Command command;
  ObjectId buffer;
  Extent3 origin, region;
  std::uint64_t row_pitch = 0, slice_pitch = 0;
  ArenaRange from;
  FAIRGV_FIELDS(command, buffer, origin, region, row_pitch, slice_pitch, from)
};

struct EnqueueCopyBuffer {
  FAIRGV_CALL(EnqueueCopyBuffer, 0x0605, void)
  Command command;
  ObjectId source, destination;
  std::uint64_t source_offset = 0, destination_offset = 0, bytes = 0;
  FAIRGV_FIELDS(command, source, destination, source_offset, destination_offset, bytes)
};

struct EnqueueCopyBufferRect {
  FAIRGV_CALL(EnqueueCopyBufferRect, 0x0606, void)
  Command command;
  ObjectId source, destination;
  Extent3 source_origin, destination_origin, region;
  std::uint64_t source_row_pitch = 0, source_slice_pitch = 0;
  std::uint64_t destination_row_pitch = 0, destination_slice_pitch = 0;
  FAIRGV_FIELDS(command, source, destination, source_origin, destination_origin, region, source_row_pitch,
                source_slice_pitch, destination_row_pitch, destination_slice_pitch)
};

struct EnqueueFillBuffer {
  FAIRGV_CALL(EnqueueFillBuffer, 0x0607, void)
  Command command;
  ObjectId buffer;
  std::uint64_t offset = 0, bytes = 0;
  std::span<const std::byte> pattern;
  FAIRGV_FIELDS(command, buffer, offset, bytes, pattern)
};

/// Whether the driver takes a command that moves no bytes of the buffer: a read, write, copy or fill of 0
/// bytes, which some drivers take and others do not. Nothing runs.
struct CheckEmptyCommand {
  FAIRGV_CALL(CheckEmptyCommand, 0x061F, StatusReply)
  ObjectId queue;
  ObjectId buffer;
  std::uint32_t type = 0;  // cl_command_type
  FAIRGV_FIELDS(queue, buffer, type)
};

using BufferCommandCalls =
    TypeList<EnqueueReadBuffer, EnqueueWriteBuffer, EnqueueReadBufferRect, EnqueueWriteBufferRect,
             EnqueueCopyBuffer, EnqueueCopyBufferRect, EnqueueFillBuffer, CheckEmptyCommand>;

}  // namespace fairgv::wire
