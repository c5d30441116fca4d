// Entry points: running kernels.
#include "icd/programs/launch.hpp"
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/session/command.hpp"

namespace fairgv::icd {
namespace {

cl_int launch(cl_command_queue command_queue, cl_kernel kernel_handle, const IndexSpace& space,
              cl_command_type type, cl_uint wait_count, const cl_event* waits, cl_event* event) {
  Queue* const queue = downcast<Queue>(command_queue);
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  Kernel* const kernel = downcast<Kernel>(kernel_handle);
  if (kernel == nullptr) return CL_INVALID_KERNEL;
  if (const cl_int error = check_launch(*queue, *kernel, space)) return error;
  const WaitList wait_list(queue->context(), wait_count, waits);
  if (const cl_int error = wait_list.error()) return error;
  if (space.is_empty()) {
    wire::EnqueueNothing call;
    return enqueue(*queue, call, wait_list, type, event);
  }
  wire::EnqueueKernel call = make_launch(*kernel, space);
  return kernel->send_changes([&](auto updates, auto values) {
    call.updates = updates;
    call.values = values;
    return enqueue(*queue, call, wait_list, type, event);
  });
}

}  // namespace

cl_int clEnqueueNDRangeKernel(cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim,
                              const size_t* global_work_offset, const size_t* global_work_size,
                              const size_t* local_work_size, cl_uint num_events_in_wait_list,
                              const cl_event* event_wait_list, cl_event* event) {
  return entry([&] {
    return launch(command_queue, kernel, {work_dim, global_work_offset, global_work_size, local_work_size},
                  CL_COMMAND_NDRANGE_KERNEL, num_events_in_wait_list, event_wait_list, event);
  });
}

cl_int clEnqueueTask(cl_command_queue command_queue, cl_kernel kernel, cl_uint num_events_in_wait_list,
                     const cl_event* event_wait_list, cl_event* event) {
  return entry([&] {
    const size_t one = 1;
    return launch(command_queue, kernel, {1, nullptr, &one, &one}, CL_COMMAND_TASK, num_events_in_wait_list,
                  event_wait_list, event);
  });
}

}  // namespace fairgv::icd
