// Entry points: buffers and sub-buffers, and the calls for all memory objects.
#include "icd/memory/memory.hpp"
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/memory/memory_flags.hpp"
#include "icd/objects/properties.hpp"

#include <cstring>

namespace fairgv::icd {
namespace {

/// The greatest allocation that some device of the context allows.
std::uint64_t max_allocation(const Context& context) {
  std::uint64_t most = 0;
  for (Device* device : context.devices()) {
    if (const DeviceFacts* const facts = device->facts()) most = std::max(most, facts->max_allocation);
  }
  return most;
}

/// Whether no driver may refuse the origin.
bool is_aligned_for_some_device(const Context& context, std::uint64_t origin) {
  return std::any_of(context.devices().begin(), context.devices().end(), [origin](Device* device) {
    const DeviceFacts* const facts = device->facts();
    return facts != nullptr && origin % facts->address_alignment == 0;
  });
}

/// Asks the driver about a part that begins at no device's alignment: some drivers take it.
cl_int ask_for_part(const Memory& parent, cl_mem_flags flags, const cl_buffer_region& region) {
  const auto reply = parent.context().connection().call(
      wire::CheckSubBuffer{parent.id(), device_access(flags), region.origin, region.size});
  return reply ? reply->error : kSessionLost;
}

/// Puts the initial contents into memory that the worker can read.
cl_int stage_contents(Context& context, const void* contents, std::uint64_t bytes, wire::ArenaRange& range) {
  const auto staged = context.session().allocate(bytes);
  if (!staged) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  std::memcpy(context.session().bytes(*staged), contents, bytes);
  range = *staged;
  return CL_SUCCESS;
}

/// Memory that the devices of the context and this process share, or none.
DirectMemory allocate_direct(Context& context, std::uint64_t bytes) {
  return context.reaches_buffers() ? context.connection().direct_memory().allocate(bytes) : DirectMemory{};
}

Outcome<cl_mem> make_buffer(cl_context context, std::vector<cl_mem_properties> properties, cl_mem_flags flags,
                            std::uint64_t bytes, void* host_ptr) {
  Context* const owner = downcast<Context>(context);
  if (owner == nullptr) return CL_INVALID_CONTEXT;
  if (!are_buffer_flags(flags)) return CL_INVALID_VALUE;
  const std::uint64_t most = max_allocation(*owner);
  if (owner->session().lost()) return kSessionLost;
  if (bytes == 0 || bytes > most) return CL_INVALID_BUFFER_SIZE;
  const bool uses_host = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  if (uses_host != (host_ptr != nullptr)) return CL_INVALID_HOST_PTR;

  auto* const kept = (flags & CL_MEM_USE_HOST_PTR) != 0 ? static_cast<std::byte*>(host_ptr) : nullptr;
  Memory::Shape shape{with_default_access(flags), bytes, kept, std::move(properties)};
  if (const auto svm = owner->svm().find(kept)) {
    if (!svm.memory->has_range(svm.offset, bytes)) return CL_INVALID_BUFFER_SIZE;
    return Ref<Memory>::make(*owner, std::move(shape), svm.memory, svm.offset).publish();
  }
  MemoryReservation reservation;
  if (const cl_int error = owner->reserve_memory(bytes, reservation)) return error;
  if (DirectMemory backing = allocate_direct(*owner, bytes)) {
    backing.charge = reservation.hand_over();
    if (uses_host) std::memcpy(owner->session().bytes(backing.range), host_ptr, bytes);
    return Ref<Memory>::make(*owner, std::move(shape), backing).publish();
  }
  wire::ArenaRange initial;
  if (uses_host) {
    if (const cl_int error = stage_contents(*owner, host_ptr, bytes, initial)) return error;
  }
  reservation.hand_over();
  const auto buffer = Ref<Memory>::make(*owner, std::move(shape), initial);
  if (uses_host) owner->session().free_when_consumed(initial);
  return buffer.publish();
}

Outcome<cl_mem> make_sub_buffer(Memory& parent, cl_mem_flags flags, const cl_buffer_region& region) {
  if (!are_sub_buffer_flags(flags, parent.flags())) return CL_INVALID_VALUE;
  if (region.size == 0) return CL_INVALID_BUFFER_SIZE;
  if (!parent.has_range(region.origin, region.size)) return CL_INVALID_VALUE;
  if (!is_aligned_for_some_device(parent.context(), region.origin)) {
    if (const cl_int error = ask_for_part(parent, inherited_flags(flags, parent.flags()), region))
      return error;
  }
  if (parent.context().session().lost()) return kSessionLost;
  std::byte* const host = parent.host_pointer() != nullptr ? parent.host_pointer() + region.origin : nullptr;
  Memory::Shape shape{inherited_flags(flags, parent.flags()), region.size, host, {}};
  return Ref<Memory>::make(parent, std::move(shape), std::uint64_t{region.origin}).publish();
}

}  // namespace

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host_ptr,
                      cl_int* errcode_ret) {
  return create_entry<cl_mem>(errcode_ret, [&] { return make_buffer(context, {}, flags, size, host_ptr); });
}

cl_mem clCreateBufferWithProperties(cl_context context, const cl_mem_properties* properties,
                                    cl_mem_flags flags, size_t size, void* host_ptr, cl_int* errcode_ret) {
  return create_entry<cl_mem>(errcode_ret, [&]() -> Outcome<cl_mem> {
    if (downcast<Context>(context) == nullptr) return CL_INVALID_CONTEXT;
    std::vector<cl_mem_properties> list;
    if (const cl_int error = read_no_properties(properties, list)) return error;
    return make_buffer(context, std::move(list), flags, size, host_ptr);
  });
}

cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type buffer_create_type,
                         const void* buffer_create_info, cl_int* errcode_ret) {
  return create_entry<cl_mem>(errcode_ret, [&]() -> Outcome<cl_mem> {
    Memory* const parent = downcast<Memory>(buffer);
    if (parent == nullptr || !parent->is_buffer() || parent->parent() != nullptr)
      return CL_INVALID_MEM_OBJECT;
    if (buffer_create_type != CL_BUFFER_CREATE_TYPE_REGION) return CL_INVALID_VALUE;
    if (buffer_create_info == nullptr) return CL_INVALID_VALUE;
    return make_sub_buffer(*parent, flags, *static_cast<const cl_buffer_region*>(buffer_create_info));
  });
}

cl_int clRetainMemObject(cl_mem memobj) {
  return entry([&]() -> cl_int {
    Memory* const memory = downcast<Memory>(memobj);
    if (memory == nullptr) return CL_INVALID_MEM_OBJECT;
    memory->retain();
    return CL_SUCCESS;
  });
}

cl_int clReleaseMemObject(cl_mem memobj) {
  return entry([&]() -> cl_int {
    Memory* const memory = downcast<Memory>(memobj);
    return memory != nullptr && memory->release() ? CL_SUCCESS : CL_INVALID_MEM_OBJECT;
  });
}

cl_int clGetMemObjectInfo(cl_mem memobj, cl_mem_info param_name, size_t param_value_size, void* param_value,
                          size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    Memory* const memory = downcast<Memory>(memobj);
    if (memory == nullptr) return CL_INVALID_MEM_OBJECT;
    return memory->info(param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int clSetMemObjectDestructorCallback(cl_mem memobj, void(CL_CALLBACK* pfn_notify)(cl_mem, void*),
                                        void* user_data) {
  return entry([&]() -> cl_int {
    Memory* const memory = downcast<Memory>(memobj);
    if (memory == nullptr) return CL_INVALID_MEM_OBJECT;
    if (pfn_notify == nullptr) return CL_INVALID_VALUE;
    memory->add_destructor_callback([=](cl_mem handle) { pfn_notify(handle, user_data); });
    return CL_SUCCESS;
  });
}

}  // namespace fairgv::icd
