// Entry points: shared virtual memory (OpenCL 3.0, 5.6). Where a context has none, they end in
// CL_INVALID_OPERATION.
#include "icd/memory/svm.hpp"
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/memory/memory_flags.hpp"
#include "icd/programs/kernel.hpp"
#include "icd/session/host_work.hpp"
#include "icd/transfer/copy_calls.hpp"

#include <bit>
#include <cstring>

namespace fairgv::icd {
namespace {

constexpr cl_svm_mem_flags kAccessFlags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;

/// Whether the devices of the context, with `capabilities`, can make an allocation with these flags.
bool are_allocation_flags(cl_svm_mem_flags flags, cl_device_svm_capabilities capabilities) {
  if ((flags & ~(kAccessFlags | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS)) != 0) return false;
  if (std::popcount(flags & kAccessFlags) > 1) return false;
  const bool fine = (flags & CL_MEM_SVM_FINE_GRAIN_BUFFER) != 0;
  const bool atomics = (flags & CL_MEM_SVM_ATOMICS) != 0;
  if (fine && (capabilities & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) == 0) return false;
  return !atomics || (fine && (capabilities & CL_DEVICE_SVM_ATOMICS) != 0);
}

/// Whether every device of the context takes an allocation of this size with this alignment (0: the default).
bool is_allocatable(const Context& context, std::uint64_t bytes, std::uint64_t alignment) {
  if (bytes == 0 || std::popcount(alignment) > 1) return false;
  return std::all_of(context.devices().begin(), context.devices().end(), [&](Device* device) {
    const DeviceFacts* const facts = device->facts();
    return facts != nullptr && bytes <= facts->max_allocation && alignment <= facts->data_type_alignment;
  });
}

Outcome<void*> allocate(cl_context handle, cl_svm_mem_flags flags, std::uint64_t bytes,
                        std::uint64_t alignment) {
  Context* const context = downcast<Context>(handle);
  if (context == nullptr) return CL_INVALID_CONTEXT;
  const cl_device_svm_capabilities capabilities = svm_capabilities(*context);
  if (capabilities == 0) return CL_INVALID_OPERATION;
  if (!are_allocation_flags(flags, capabilities)) return CL_INVALID_VALUE;
  if (!is_allocatable(*context, bytes, alignment)) return CL_INVALID_VALUE;
  MemoryReservation reservation;
  if (const cl_int error = context->reserve_memory(bytes, reservation)) return error;
  DirectMemory backing = context->connection().direct_memory().allocate(bytes);
  if (!backing) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  backing.charge = reservation.hand_over();
  Memory::Shape shape{with_default_access(flags & kAccessFlags), bytes, nullptr, {}};
  return context->svm().add(Ref<Memory>::make(*context, std::move(shape), backing));
}

/// The start of every SVM command.
cl_int check_queue(Queue* queue) {
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  return svm_capabilities(queue->context()) != 0 ? CL_SUCCESS : CL_INVALID_OPERATION;
}

bool has_null(cl_uint count, const void* const* pointers) {
  return std::any_of(pointers, pointers + count, [](const void* pointer) { return pointer == nullptr; });
}

/// Sends a command that the worker carries out, and waits for it if it blocks.
template <class Call>
cl_int run(const TransferRequest& request, Call& call) {
  Ref<Event> completion;
  if (request.event != nullptr) {
    completion = Event::make_command(request.queue, request.type);
  } else if (request.blocking) {
    completion = Event::make_internal(request.queue.connection());
  }
  if (!completion && (request.event != nullptr || request.blocking)) return CL_OUT_OF_RESOURCES;
  cl_int error = send_command(request.queue, call, request.wait_list.ids(), completion.get());
  if (error != CL_SUCCESS) return error;
  if (request.blocking)
    error = blocking_result(request.queue, request.wait_list, completion->wait(request.type));
  if (error == CL_SUCCESS && request.event != nullptr) *request.event = completion.publish();
  return error;
}

bool ranges_overlap(const void* one, const void* other, std::size_t bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(one);
  const auto b = reinterpret_cast<std::uintptr_t>(other);
  return a < b + bytes && b < a + bytes;
}

/// A copy between shared virtual memory and memory that only this process knows, in either direction, or
/// within one of the two.
cl_int copy(const TransferRequest& request, void* destination, const void* source, std::size_t bytes) {
  SvmAllocations& svm = request.queue.context().svm();
  const auto from = svm.find(source);
  const auto to = svm.find(destination);
  if (from && !from.memory->has_range(from.offset, bytes)) return CL_INVALID_VALUE;
  if (to && !to.memory->has_range(to.offset, bytes)) return CL_INVALID_VALUE;
  if (from && to) {
    wire::EnqueueCopyBuffer call;
    const cl_int error = make_copy(*from.memory, *to.memory, from.offset, to.offset, bytes, call);
    return error != CL_SUCCESS ? error : run(request, call);
  }
  if (from) {
    return read_region(request, BufferRegion::flat(*from.memory, from.offset, bytes),
                       HostRegion::flat(destination, bytes));
  }
  if (to) {
    return write_region(request, BufferRegion::flat(*to.memory, to.offset, bytes),
                        HostRegion::flat(source, bytes));
  }
  return enqueue_host_work(request, [=] { std::memcpy(destination, source, bytes); });
}

bool is_fill(const void* pointer, const void* pattern, std::size_t pattern_bytes, std::size_t bytes) {
  if (pointer == nullptr || pattern == nullptr || bytes == 0) return false;
  if (!std::has_single_bit(pattern_bytes) || pattern_bytes > 128) return false;
  return reinterpret_cast<std::uintptr_t>(pointer) % pattern_bytes == 0 && bytes % pattern_bytes == 0;
}

cl_int fill(const TransferRequest& request, void* pointer, const void* pattern, std::size_t pattern_bytes,
            std::size_t bytes) {
  if (const auto place = request.queue.context().svm().find(pointer)) {
    wire::EnqueueFillBuffer call;
    const cl_int error = make_fill(*place.memory, pattern, pattern_bytes, place.offset, bytes, call);
    return error != CL_SUCCESS ? error : run(request, call);
  }
  const auto* const first = static_cast<const std::byte*>(pattern);
  const std::vector<std::byte> kept(first, first + pattern_bytes);
  return enqueue_host_work(request, [=, to = static_cast<std::byte*>(pointer)] {
    for (std::size_t done = 0; done < bytes; done += kept.size())
      std::memcpy(to + done, kept.data(), kept.size());
  });
}

}  // namespace

void* clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  return create_entry<void*>(nullptr, [&] { return allocate(context, flags, size, alignment); });
}

void clSVMFree(cl_context context, void* svm_pointer) {
  (void)entry([&]() -> cl_int {
    Context* const owner = downcast<Context>(context);
    if (owner != nullptr) owner->svm().free(svm_pointer);
    return CL_SUCCESS;
  });
}

cl_int clEnqueueSVMFree(cl_command_queue command_queue, cl_uint num_svm_pointers, void* svm_pointers[],
                        void(CL_CALLBACK* pfn_free_func)(cl_command_queue, cl_uint, void*[], void*),
                        void* user_data, cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                        cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (const cl_int error = check_queue(queue)) return error;
    if (num_svm_pointers == 0 || svm_pointers == nullptr) return CL_INVALID_VALUE;
    if (has_null(num_svm_pointers, svm_pointers)) return CL_INVALID_VALUE;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    const auto free_all = [=, kept = Ref<Queue>(*queue),
                           pointers =
                               std::vector<void*>(svm_pointers, svm_pointers + num_svm_pointers)]() mutable {
      if (pfn_free_func != nullptr) {
        pfn_free_func(kept->handle(), static_cast<cl_uint>(pointers.size()), pointers.data(), user_data);
      } else {
        for (const void* pointer : pointers) kept->context().svm().free(pointer);
      }
    };
    return enqueue_host_work({*queue, wait_list, false, CL_COMMAND_SVM_FREE, event}, free_all);
  });
}

cl_int clEnqueueSVMMemcpy(cl_command_queue command_queue, cl_bool blocking_copy, void* dst_ptr,
                          const void* src_ptr, size_t size, cl_uint num_events_in_wait_list,
                          const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (const cl_int error = check_queue(queue)) return error;
    if (dst_ptr == nullptr || src_ptr == nullptr || size == 0) return CL_INVALID_VALUE;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    if (ranges_overlap(dst_ptr, src_ptr, size)) return CL_MEM_COPY_OVERLAP;
    const WaitingCall counted(queue->connection(), blocking_copy != CL_FALSE);
    return copy({*queue, wait_list, blocking_copy != CL_FALSE, CL_COMMAND_SVM_MEMCPY, event}, dst_ptr,
                src_ptr, size);
  });
}

cl_int clEnqueueSVMMemFill(cl_command_queue command_queue, void* svm_ptr, const void* pattern,
                           size_t pattern_size, size_t size, cl_uint num_events_in_wait_list,
                           const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (const cl_int error = check_queue(queue)) return error;
    if (!is_fill(svm_ptr, pattern, pattern_size, size)) return CL_INVALID_VALUE;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    return fill({*queue, wait_list, false, CL_COMMAND_SVM_MEMFILL, event}, svm_ptr, pattern, pattern_size,
                size);
  });
}

// The host can access the memory at any time, so mapping only waits for earlier commands.
cl_int clEnqueueSVMMap(cl_command_queue command_queue, cl_bool blocking_map, cl_map_flags flags,
                       void* svm_ptr, size_t size, cl_uint num_events_in_wait_list,
                       const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (const cl_int error = check_queue(queue)) return error;
    if (svm_ptr == nullptr || size == 0 || !are_map_flags(flags)) return CL_INVALID_VALUE;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    const WaitingCall counted(queue->connection(), blocking_map != CL_FALSE);
    wire::EnqueueNothing call;
    return run({*queue, wait_list, blocking_map != CL_FALSE, CL_COMMAND_SVM_MAP, event}, call);
  });
}

cl_int clEnqueueSVMUnmap(cl_command_queue command_queue, void* svm_ptr, cl_uint num_events_in_wait_list,
                         const cl_event* event_wait_list, cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (const cl_int error = check_queue(queue)) return error;
    if (svm_ptr == nullptr) return CL_INVALID_VALUE;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    wire::EnqueueNothing call;
    return run({*queue, wait_list, false, CL_COMMAND_SVM_UNMAP, event}, call);
  });
}

// A hint; the memory lies where every device reaches it.
cl_int clEnqueueSVMMigrateMem(cl_command_queue command_queue, cl_uint num_svm_pointers,
                              const void** svm_pointers, const size_t*, cl_mem_migration_flags flags,
                              cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                              cl_event* event) {
  return entry([&]() -> cl_int {
    Queue* const queue = downcast<Queue>(command_queue);
    if (const cl_int error = check_queue(queue)) return error;
    constexpr cl_mem_migration_flags kKnown =
        CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    if (num_svm_pointers == 0 || svm_pointers == nullptr || (flags & ~kKnown) != 0) return CL_INVALID_VALUE;
    if (has_null(num_svm_pointers, svm_pointers)) return CL_INVALID_VALUE;
    const WaitList wait_list(queue->context(), num_events_in_wait_list, event_wait_list);
    if (const cl_int error = wait_list.error()) return error;
    wire::EnqueueNothing call;
    return run({*queue, wait_list, false, CL_COMMAND_SVM_MIGRATE_MEM, event}, call);
  });
}

cl_int clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint arg_index, const void* arg_value) {
  return entry([&]() -> cl_int {
    Kernel* const object = downcast<Kernel>(kernel);
    if (object == nullptr) return CL_INVALID_KERNEL;
    if (svm_capabilities(object->context()) == 0) return CL_INVALID_OPERATION;
    return object->set_svm_argument(arg_index, arg_value);
  });
}

// Kernels reach every allocation anyway, so there is nothing to remember.
cl_int clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info param_name, size_t param_value_size,
                           const void* param_value) {
  return entry([&]() -> cl_int {
    const Kernel* const object = downcast<Kernel>(kernel);
    if (object == nullptr) return CL_INVALID_KERNEL;
    if (svm_capabilities(object->context()) == 0) return CL_INVALID_OPERATION;
    if (param_value == nullptr || param_value_size == 0) return CL_INVALID_VALUE;
    if (param_name == CL_KERNEL_EXEC_INFO_SVM_PTRS) {
      return param_value_size % sizeof(void*) == 0 ? CL_SUCCESS : CL_INVALID_VALUE;
    }
    if (param_name != CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM || param_value_size != sizeof(cl_bool)) {
      return CL_INVALID_VALUE;
    }
    cl_bool uses_system = CL_FALSE;
    std::memcpy(&uses_system, param_value, sizeof(uses_system));
    return uses_system == CL_FALSE ? CL_SUCCESS : CL_INVALID_OPERATION;
  });
}

}  // namespace fairgv::icd
