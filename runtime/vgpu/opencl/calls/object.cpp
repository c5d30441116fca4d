// Contexts, queues and buffers: made at once; an object that the driver refuses is poisoned.
#include <fmt/core.h>

#include "runtime/vgpu/opencl/bounds.hpp"
#include "runtime/vgpu/opencl/handlers.hpp"
#include "runtime/vgpu/opencl/programs/trial.hpp"

namespace fairgv::vgpu::opencl {

Result<void> Handlers::handle(const wire::ReleaseObject& call) {
  executor_.note_release();
  FAIRGV_TRY(released, objects_.take(call.id));
  released.value()->release();
  journal().release(loop().request().number, call.id, std::weak_ptr<const void>(released.value()));
  return {};
}

Result<void> Handlers::handle(const wire::CreateContext& call) {
  if (call.devices.size() > driver_.devices().size()) {
    return Error{fmt::format("{} devices of {}", call.devices.size(), driver_.devices().size())};
  }
  FAIRGV_TRY(ids, driver_.ids(call.devices));
  if (ids.value().empty()) return Error{"a context without devices"};
  const wire::PlatformIndex platform_index = driver_.devices()[call.devices.front()].platform;
  for (const wire::DeviceIndex device : call.devices) {
    if (driver_.devices()[device].platform != platform_index) return Error{"a context of several platforms"};
  }
  auto context = std::make_shared<Context>();
  context->devices.assign(call.devices.begin(), call.devices.end());
  for (const wire::DeviceIndex device : call.devices) {
    const wire::DeviceIndex root = driver_.devices()[device].root;
    if (const auto& owner = driver_.devices()[device].owner) context->sub_devices.push_back(owner);
    context->charged |= std::uint64_t{1} << driver_.devices()[device].charged;
    context->roots |= std::uint64_t{1} << root;
    if (!settings_.access.may_name(driver_.devices()[device].charged))
      context->error = CL_DEVICE_NOT_AVAILABLE;
  }
  if (context->error != CL_SUCCESS) return objects_.insert(call.id, std::move(context));
  const Platform& platform = driver_.platforms()[platform_index];
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(platform.id), 0};
  context->handle = ContextHandle(clCreateContext(properties, static_cast<cl_uint>(ids.value().size()),
                                                  ids.value().data(), nullptr, nullptr, &context->error));
  if (context->error != CL_SUCCESS && settings_.refused) {
    for (const wire::DeviceIndex device : call.devices)
      settings_.refused(driver_.devices()[device].root, context->error);
  }
  return objects_.insert(call.id, std::move(context));
}

Result<void> Handlers::handle(const wire::CreateQueue& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  FAIRGV_TRY(id, device(call.device));
  const bool in_order = (call.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  const bool profiling = (call.properties & CL_QUEUE_PROFILING_ENABLE) != 0;

  const wire::PlatformIndex platform = driver_.devices()[call.device].platform;
  auto queue = std::make_shared<Queue>();
  queue->context = std::move(context).value();
  queue->lane = std::make_shared<Lane>(in_order, driver_.devices()[call.device].root,
                                       profiling ? Clock::device : Clock::none);
  queue->on = driver_.devices()[call.device];
  queue->device = id.value();
  queue->writes = &moving_.writes();
  queue->gates = &gates_;
  queue->is_lent = lender_of(*queue->context) != nullptr;
  queue->error = queue->context->error;
  // The driver is not asked about a device that is none of the context's if the program may not use it.
  if (!settings_.access.may_name(queue->on.charged)) queue->error = CL_DEVICE_NOT_AVAILABLE;
  if (queue->error == CL_SUCCESS) {
    queue->error = clGetDeviceInfo(queue->device, CL_DEVICE_ADDRESS_BITS, sizeof(queue->address_bits),
                                   &queue->address_bits, nullptr);
    cl_ulong local_bytes = 0;
    clGetDeviceInfo(queue->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(local_bytes), &local_bytes, nullptr);
    queue->is_pocl = driver_.platform_name(platform) == "Portable Computing Language";
    // PoCL 3.1 does not look at how much a launch uses, and ends.
    if (queue->is_pocl) queue->local_bytes = local_bytes;
  }
  if (queue->error == CL_SUCCESS) {
    queue->handle = make_queue(driver_.platforms()[platform], queue->context->handle.get(), queue->device,
                               call.properties & kQueueProperties, queue->error);
    if (queue->error != CL_SUCCESS && settings_.refused)
      settings_.refused(queue->lane->device(), queue->error);
  }
  // The program goes on seeing what its own device's driver does.
  queue->lane->set_failed_waits(failed_waits_.at(queue->on.known_on));
  if (has_failed_events_ && queue->error == CL_SUCCESS)
    learn_failed_waits(queue->on.known_on, queue->on.known_as);
  return objects_.insert(call.id, std::move(queue));
}

Result<void> Handlers::handle(const wire::FlushQueue& call) {
  // Commands that may run are handed to the driver and flushed without being asked.
  FAIRGV_TRY(queue, objects_.get<Queue>(call.queue));
  return {};
}

Result<void> Handlers::handle(const wire::CreateBuffer& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  cl_mem_flags flags = call.flags & ~kHostPointerFlags;
  std::byte* contents = nullptr;
  const bool is_direct = call.backing.bytes != 0;
  if (is_direct || call.initial.bytes != 0) {
    FAIRGV_TRY(range, arena(is_direct ? call.backing : call.initial, call.bytes));
    contents = range.value();
    flags |= is_direct ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR;
  }
  auto buffer = std::make_shared<Buffer>();
  buffer->context = std::move(context).value();
  buffer->bytes = call.bytes;
  buffer->error = buffer->context->error;
  if (is_direct) buffer->backing = call.backing;
  // Memory that is part of an allocation is charged with that allocation.
  if (is_direct && !call.retired) buffer->parent = owner_of(call.backing);
  if (!buffer->parent) {
    if (auto done = charge(*buffer, call.bytes, static_cast<bool>(call.retired)); !done) return done;
  }
  Residency* const lender = is_direct ? nullptr : lender_of(*buffer->context);
  if (buffer->error == CL_SUCCESS && lender != nullptr) {
    const cl_device_id device = driver_.devices()[buffer->context->devices.front()].id;
    buffer->block = std::make_shared<BufferBlock>(*lender, *buffer, call.flags & ~kHostPointerFlags, device);
    if (contents != nullptr) buffer->error = buffer->block->put({contents, call.bytes});
  } else if (buffer->error == CL_SUCCESS) {
    if (!buffer->parent) note_other(*buffer, call.bytes);
    buffer->handle = MemoryHandle(
        clCreateBuffer(buffer->context->handle.get(), flags, call.bytes, contents, &buffer->error));
  }
  if (call.retired) {
    if (auto told = tell_when_gone(*buffer, call.retired); !told) return told;
  }
  return objects_.insert(call.id, std::move(buffer));
}

Result<void> Handlers::tell_when_gone(Buffer& buffer, wire::EventId retired) {
  FAIRGV_TRY(node, executor_.begin_host_work(retired));
  buffer.when_gone = [listening = std::weak_ptr(listening_),
                      node = std::move(node).value()](bool is_headroom) {
    const auto executor = listening.lock();
    if (executor) (*executor)->end_host_work(*node, is_headroom ? kComplete : wire::kMemoryGivenBack);
  };
  return {};
}

std::shared_ptr<Buffer> Handlers::owner_of(wire::ArenaRange range) const {
  return objects_.find_if<Buffer>([range](const Buffer& buffer) {
    const wire::ArenaRange& whole = buffer.backing;
    return range.offset >= whole.offset && range.bytes <= whole.bytes &&
           range.offset - whole.offset <= whole.bytes - range.bytes;
  });
}

Result<void> Handlers::handle(const wire::CreateSubBuffer& call) {
  FAIRGV_TRY(parent, objects_.get<Buffer>(call.parent));
  if (parent.value()->is_part) return Error{"a part of a part of a buffer"};
  if (!has_range(parent.value()->bytes, call.origin, call.bytes)) {
    return Error{
        fmt::format("{} bytes at {} of a buffer of {}", call.bytes, call.origin, parent.value()->bytes)};
  }
  auto buffer = std::make_shared<Buffer>();
  buffer->bytes = call.bytes;
  buffer->is_part = true;
  buffer->parent = std::move(parent).value();
  buffer->context = buffer->parent->context;
  buffer->error = buffer->parent->error;
  const cl_buffer_region region{call.origin, call.bytes};
  if (buffer->parent->block) {
    if (buffer->error == CL_SUCCESS)
      buffer->error = buffer->parent->block->add_part(*buffer, call.flags & ~kHostPointerFlags, region);
  } else if (buffer->error == CL_SUCCESS) {
    buffer->handle =
        MemoryHandle(clCreateSubBuffer(buffer->parent->handle.get(), call.flags & ~kHostPointerFlags,
                                       CL_BUFFER_CREATE_TYPE_REGION, &region, &buffer->error));
  }
  return objects_.insert(call.id, std::move(buffer));
}

}  // namespace fairgv::vgpu::opencl
