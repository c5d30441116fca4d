// Entry points: commands on buffers that need nothing of the host's memory.
#include "icd/api.hpp"
#include "icd/checks.hpp"
#include "icd/command.hpp"
#include "icd/copy_calls.hpp"
#include "icd/entry.hpp"

namespace fairgv::icd {

cl_int clEnqueueCopyBuffer(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer,
                           size_t src_offset, size_t dst_offset, size_t size, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    const Memory* const source = downcast<Memory>(src_buffer);
    const Memory* const destination = downcast<Memory>(dst_buffer);
    if (const cl_int error = check_buffer(*queue, source)) return error;
    if (const cl_int error = check_buffer(*queue, destination)) return error;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    wire::EnqueueCopyBuffer call;
    if (const cl_int error = make_copy(*source, *destination, src_offset, dst_offset, size, call))
      return error;
    return enqueue(*queue, call, wait_list, CL_COMMAND_COPY_BUFFER, event);
  });
}

cl_int clEnqueueCopyBufferRect(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer,
                               const size_t* src_origin, const size_t* dst_origin, const size_t* region,
                               size_t src_row_pitch, size_t src_slice_pitch, size_t dst_row_pitch,
                               size_t dst_slice_pitch, cl_uint num_events_in_wait_list,
                               const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    const Memory* const source = downcast<Memory>(src_buffer);
    const Memory* const destination = downcast<Memory>(dst_buffer);
    if (const cl_int error = check_buffer(*queue, source)) return error;
    if (const cl_int error = check_buffer(*queue, destination)) return error;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    wire::EnqueueCopyBufferRect call;
    const cl_int error =
        make_rect_copy({*source, src_origin, src_row_pitch, src_slice_pitch},
                       {*destination, dst_origin, dst_row_pitch, dst_slice_pitch}, region, call);
    if (error != CL_SUCCESS) return error;
    return enqueue(*queue, call, wait_list, CL_COMMAND_COPY_BUFFER_RECT, event);
  });
}

cl_int clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer, const void* pattern,
                           size_t pattern_size, size_t offset, size_t size, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    const Memory* const memory = downcast<Memory>(buffer);
    if (const cl_int error = check_buffer(*queue, memory)) return error;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    wire::EnqueueFillBuffer call;
    if (const cl_int error = make_fill(*memory, pattern, pattern_size, offset, size, call)) return error;
    return enqueue(*queue, call, wait_list, CL_COMMAND_FILL_BUFFER, event);
  });
}

// A hint. Where objects lie is the driver's business; the command takes its place among the others.
cl_int clEnqueueMigrateMemObjects(cl_command_queue command_queue, cl_uint num_mem_objects,
                                  const cl_mem* mem_objects, cl_mem_migration_flags flags,
                                  cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                  cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    if (num_mem_objects == 0 || mem_objects == nullptr) return CL_INVALID_VALUE;
    constexpr cl_mem_migration_flags kKnown =
        CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    if ((flags & ~kKnown) != 0) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < num_mem_objects; ++i) {
      if (const cl_int error = check_memory(*queue, downcast<Memory>(mem_objects[i]))) return error;
    }
    wire::EnqueueMarker call;
    return enqueue(*queue, call, wait_list, CL_COMMAND_MIGRATE_MEM_OBJECTS, event);
  });
}

}  // namespace fairgv::icd
