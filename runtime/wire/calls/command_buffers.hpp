// Command buffers (cl_khr_command_buffer).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "runtime/wire/calls/buffer_commands.hpp"
#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/calls/commands.hpp"
#include "runtime/wire/calls/image_commands.hpp"
#include "runtime/wire/calls/kernels.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

/// `flags`: cl_command_buffer_flags_khr. The front end keeps to them by itself; the worker may tell the
/// driver of more.
struct CreateCommandBuffer {
  FAIRGV_CALL(CreateCommandBuffer, 0x0900, void)
  ObjectId id;
  ObjectId queue;
  std::uint64_t flags = 0;
  FAIRGV_FIELDS(id, queue, flags)
};

/// What every recorded command has. Commands are numbered from 1 in the order in which they were recorded:
/// that number is the command's sync point.
struct Recording {
  ObjectId command_buffer;
  std::span<const std::uint32_t> wait_list;
  FAIRGV_FIELDS(command_buffer, wait_list)
};

// A recorded command says what to do as the enqueued one does; the Command in it is not looked at.

struct RecordBarrier {
  FAIRGV_CALL(RecordBarrier, 0x0901, void)
  Recording recording;
  FAIRGV_FIELDS(recording)
};

struct RecordCopyBuffer {
  FAIRGV_CALL(RecordCopyBuffer, 0x0902, void)
  Recording recording;
  EnqueueCopyBuffer copy;
  FAIRGV_FIELDS(recording, copy)
};

struct RecordCopyBufferRect {
  FAIRGV_CALL(RecordCopyBufferRect, 0x0903, void)
  Recording recording;
  EnqueueCopyBufferRect copy;
  FAIRGV_FIELDS(recording, copy)
};

struct RecordFillBuffer {
  FAIRGV_CALL(RecordFillBuffer, 0x0904, void)
  Recording recording;
  EnqueueFillBuffer fill;
  FAIRGV_FIELDS(recording, fill)
};

struct RecordKernel {
  FAIRGV_CALL(RecordKernel, 0x0905, void)
  Recording recording;
  EnqueueKernel launch;
  FAIRGV_FIELDS(recording, launch)
};

// Commands on images: the driver checks formats and regions, and its answer is waited for. A command that it
// refused is not recorded.

struct RecordCopyBufferToImage {
  FAIRGV_CALL(RecordCopyBufferToImage, 0x0906, StatusReply)
  Recording recording;
  ObjectId buffer, image;
  std::uint64_t offset = 0;
  Extent3 origin, region;
  FAIRGV_FIELDS(recording, buffer, image, offset, origin, region)
};

struct RecordCopyImage {
  FAIRGV_CALL(RecordCopyImage, 0x0907, StatusReply)
  Recording recording;
  ObjectId source, destination;
  Extent3 source_origin, destination_origin, region;
  FAIRGV_FIELDS(recording, source, destination, source_origin, destination_origin, region)
};

struct RecordCopyImageToBuffer {
  FAIRGV_CALL(RecordCopyImageToBuffer, 0x0908, StatusReply)
  Recording recording;
  ObjectId image, buffer;
  Extent3 origin, region;
  std::uint64_t offset = 0;
  FAIRGV_FIELDS(recording, image, buffer, origin, region, offset)
};

struct RecordFillImage {
  FAIRGV_CALL(RecordFillImage, 0x0909, StatusReply)
  Recording recording;
  ObjectId image;
  std::array<std::uint32_t, 4>
      color{};  // four floats, or integers: 16 bytes, as clEnqueueFillImage takes them
  Extent3 origin, region;
  FAIRGV_FIELDS(recording, image, color, origin, region)
};

/// Answers with the driver's own code, or with the first error of a command that it refused to record.
struct FinalizeCommandBuffer {
  FAIRGV_CALL(FinalizeCommandBuffer, 0x090A, StatusReply)
  ObjectId command_buffer;
  FAIRGV_FIELDS(command_buffer)
};

/// Runs everything recorded, as one command of the queue.
struct EnqueueCommandBuffer {
  FAIRGV_CALL(EnqueueCommandBuffer, 0x090B, void)
  Command command;
  ObjectId command_buffer;
  FAIRGV_FIELDS(command, command_buffer)
};

using CommandBufferCalls =
    TypeList<CreateCommandBuffer, RecordBarrier, RecordCopyBuffer, RecordCopyBufferRect, RecordFillBuffer,
             RecordKernel, RecordCopyBufferToImage, RecordCopyImage, RecordCopyImageToBuffer, RecordFillImage,
             FinalizeCommandBuffer, EnqueueCommandBuffer>;

}  // namespace fairgv::wire
