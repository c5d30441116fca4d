// Command buffers (cl_khr_command_buffer).
#pragma once

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
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId queue;
  std::uint64_t flags = 0;
  FAIRGV_FIELDS(id, queue, flags)
};

/// The common part of every recorded command. Commands are numbered from 1 in the order in which they were
/// recorded: that number is the command's sync point.
struct Recording {
  ObjectId command_buffer;
  std::span<const std::uint32_t> wait_list;
  FAIRGV_FIELDS(command_buffer, wait_list)
};

/// A recorded command: the same fields as the enqueued command's. The Command in it is not looked at.
template <class Enqueued>
struct Recorded {
  Recording recording;
  Enqueued command;
  FAIRGV_FIELDS(recording, command)
};

struct RecordBarrier : Recorded<EnqueueBarrier> {
  FAIRGV_CALL(RecordBarrier, 0x0901, void)
  FAIRGV_LASTS(extends, recording.command_buffer)
};
struct RecordCopyBuffer : Recorded<EnqueueCopyBuffer> {
  FAIRGV_CALL(RecordCopyBuffer, 0x0902, void)
  FAIRGV_LASTS(extends, recording.command_buffer)
};
struct RecordCopyBufferRect : Recorded<EnqueueCopyBufferRect> {
  FAIRGV_CALL(RecordCopyBufferRect, 0x0903, void)
  FAIRGV_LASTS(extends, recording.command_buffer)
};
struct RecordFillBuffer : Recorded<EnqueueFillBuffer> {
  FAIRGV_CALL(RecordFillBuffer, 0x0904, void)
  FAIRGV_LASTS(extends, recording.command_buffer)
};
struct RecordKernel : Recorded<EnqueueKernel> {
  FAIRGV_CALL(RecordKernel, 0x0905, void)
  FAIRGV_LASTS(extends, recording.command_buffer)
};

// Only the driver knows which commands on images it records, so its answer is waited for. A command that it
// refused is not recorded.

struct RecordCopyBufferToImage : Recorded<EnqueueCopyBufferToImage> {
  FAIRGV_CALL(RecordCopyBufferToImage, 0x0906, StatusReply)
  FAIRGV_LASTS(extends, recording.command_buffer)
};
struct RecordCopyImage : Recorded<EnqueueCopyImage> {
  FAIRGV_CALL(RecordCopyImage, 0x0907, StatusReply)
  FAIRGV_LASTS(extends, recording.command_buffer)
};
struct RecordCopyImageToBuffer : Recorded<EnqueueCopyImageToBuffer> {
  FAIRGV_CALL(RecordCopyImageToBuffer, 0x0908, StatusReply)
  FAIRGV_LASTS(extends, recording.command_buffer)
};
struct RecordFillImage : Recorded<EnqueueFillImage> {
  FAIRGV_CALL(RecordFillImage, 0x0909, StatusReply)
  FAIRGV_LASTS(extends, recording.command_buffer)
};

/// Answers with the driver's own code, or with the first error of a command that it refused to record.
struct FinalizeCommandBuffer {
  FAIRGV_CALL(FinalizeCommandBuffer, 0x090A, StatusReply)
  FAIRGV_LASTS(extends, command_buffer)
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
