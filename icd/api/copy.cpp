// Entry points: commands on buffers that need nothing of the host's memory.
#include "icd/api/api.hpp"
#include "icd/api/enqueue_entry.hpp"
#include "icd/checks.hpp"
#include "icd/transfer/copy_calls.hpp"
#include "icd/transfer/transfer_commands.hpp"

namespace fairgv::icd {
namespace {

cl_int check_migration(const Queue& queue, std::span<const cl_mem> objects, cl_mem_migration_flags flags) {
  constexpr cl_mem_migration_flags kKnown =
      CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  if (objects.empty() || objects.data() == nullptr || (flags & ~kKnown) != 0) return CL_INVALID_VALUE;
  for (const cl_mem object : objects) {
    if (const cl_int error = check_memory(queue, downcast<Memory>(object))) return error;
  }
  return CL_SUCCESS;
}

/// A copy or fill of no bytes, within `buffer` and `other`.
cl_int enqueue_empty(const EnqueueArguments& arguments, cl_command_type type, cl_mem buffer, cl_mem other) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(arguments.queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    Memory* const memory = downcast<Memory>(buffer);
    if (const cl_int error = check_buffer(*queue, memory)) return error;
    if (const cl_int error = check_buffer(*queue, downcast<Memory>(other))) return error;
    const WaitList wait_list(queue->context(), arguments.wait_count, arguments.waits);
    if (const cl_int error = wait_list.error()) return error;
    return pass_empty({*queue, wait_list, false, type, arguments.event}, *memory);
  });
}

/// Whether a command of no bytes lies within the buffer.
bool is_empty_within(cl_mem buffer, std::size_t offset, std::size_t bytes) {
  const Memory* const memory = downcast<Memory>(buffer);
  return bytes == 0 && memory != nullptr && memory->is_buffer() && offset <= memory->bytes();
}

}  // namespace

cl_int clEnqueueCopyBuffer(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer,
                           size_t src_offset, size_t dst_offset, size_t size, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  const EnqueueArguments arguments{command_queue, num_events_in_wait_list, event_wait_list, event};
  if (src_buffer != dst_buffer && is_empty_within(src_buffer, src_offset, size) &&
      is_empty_within(dst_buffer, dst_offset, size)) {
    return enqueue_empty(arguments, CL_COMMAND_COPY_BUFFER, src_buffer, dst_buffer);
  }
  return enqueue_entry<wire::EnqueueCopyBuffer>(
      arguments, CL_COMMAND_COPY_BUFFER, [&](const Queue& queue, auto& call) {
        return make_copy(queue, src_buffer, dst_buffer, src_offset, dst_offset, size, call);
      });
}

cl_int clEnqueueCopyBufferRect(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer,
                               const size_t* src_origin, const size_t* dst_origin, const size_t* region,
                               size_t src_row_pitch, size_t src_slice_pitch, size_t dst_row_pitch,
                               size_t dst_slice_pitch, cl_uint num_events_in_wait_list,
                               const cl_event* event_wait_list, cl_event* event) {
  return enqueue_entry<wire::EnqueueCopyBufferRect>(
      {command_queue, num_events_in_wait_list, event_wait_list, event}, CL_COMMAND_COPY_BUFFER_RECT,
      [&](const Queue& queue, auto& call) {
        return make_rect_copy(queue, {src_buffer, src_origin, src_row_pitch, src_slice_pitch},
                              {dst_buffer, dst_origin, dst_row_pitch, dst_slice_pitch}, region, call);
      });
}

cl_int clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer, const void* pattern,
                           size_t pattern_size, size_t offset, size_t size, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  const EnqueueArguments arguments{command_queue, num_events_in_wait_list, event_wait_list, event};
  if (pattern != nullptr && is_pattern_size(pattern_size) && offset % pattern_size == 0 &&
      is_empty_within(buffer, offset, size)) {
    return enqueue_empty(arguments, CL_COMMAND_FILL_BUFFER, buffer, buffer);
  }
  return enqueue_entry<wire::EnqueueFillBuffer>(
      arguments, CL_COMMAND_FILL_BUFFER, [&](const Queue& queue, auto& call) {
        return make_fill(queue, buffer, pattern, pattern_size, offset, size, call);
      });
}

// A hint. The driver decides where objects lie; the command takes its place among the others.
cl_int clEnqueueMigrateMemObjects(cl_command_queue command_queue, cl_uint num_mem_objects,
                                  const cl_mem* mem_objects, cl_mem_migration_flags flags,
                                  cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                  cl_event* event) {
  return enqueue_entry<wire::EnqueueMarker>(
      {command_queue, num_events_in_wait_list, event_wait_list, event}, CL_COMMAND_MIGRATE_MEM_OBJECTS,
      [&](const Queue& queue, auto&) {
        return check_migration(queue, {mem_objects, num_mem_objects}, flags);
      });
}

}  // namespace fairgv::icd
