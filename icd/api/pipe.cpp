// Entry points: pipes, which only kernels read and write.
#include <cstring>

#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/memory/memory.hpp"
#include "icd/memory/memory_flags.hpp"

namespace fairgv::icd {
namespace {

cl_uint number(Device& device, cl_device_info param) {
  const wire::InfoReply* const reply = device.raw_info(param);
  cl_uint value = 0;
  if (reply != nullptr && reply->value.size() == sizeof(value)) {
    std::memcpy(&value, reply->value.data(), sizeof(value));
  }
  return value;
}

/// OpenCL 2.x has pipes always, 3.0 as an option, 1.x never.
bool has_pipes(Device& device) {
  const DeviceFacts* const facts = device.facts();
  if (facts == nullptr || !facts->at_least(2, 0)) return false;
  return !facts->at_least(3, 0) || number(device, CL_DEVICE_PIPE_SUPPORT) != CL_FALSE;
}

/// The largest packet that some device with pipes takes; nothing if none has pipes.
std::optional<cl_uint> max_packet_bytes(const Context& context) {
  std::optional<cl_uint> most;
  for (Device* device : context.devices()) {
    if (!has_pipes(*device)) continue;
    most = std::max(most.value_or(0), number(*device, CL_DEVICE_PIPE_MAX_PACKET_SIZE));
  }
  return most;
}

bool are_pipe_flags(cl_mem_flags flags) {
  return (flags & ~cl_mem_flags{CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS}) == 0;
}

Outcome<cl_mem> make_pipe(cl_context context, cl_mem_flags flags, cl_uint packet_bytes, cl_uint max_packets,
                          const cl_pipe_properties* properties) {
  Context* const owner = downcast<Context>(context);
  if (owner == nullptr) return CL_INVALID_CONTEXT;
  const auto most = max_packet_bytes(*owner);
  if (owner->session().lost()) return kSessionLost;
  if (!most) return CL_INVALID_OPERATION;
  if (!are_pipe_flags(flags) || properties != nullptr) return CL_INVALID_VALUE;
  if (packet_bytes == 0 || packet_bytes > *most || max_packets == 0) return CL_INVALID_PIPE_SIZE;
  // The host never accesses pipes (OpenCL 3.0, 5.4.1).
  flags = with_default_access(flags) | CL_MEM_HOST_NO_ACCESS;
  MemoryReservation reservation;
  if (const cl_int error = owner->reserve_memory(wire::pipe_bytes(packet_bytes, max_packets), reservation)) {
    return error;
  }
  const wire::ObjectId id = owner->session().new_object();
  reservation.hand_over();
  owner->connection().send(wire::CreatePipe{id, owner->id(), flags, packet_bytes, max_packets});
  Memory::Shape shape{
      flags, std::uint64_t{packet_bytes} * max_packets, nullptr, {}, PipeShape{packet_bytes, max_packets}};
  return Ref<Memory>::make(*owner, id, Ref<Memory>(), std::move(shape)).publish();
}

}  // namespace

cl_mem clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint pipe_packet_size,
                    cl_uint pipe_max_packets, const cl_pipe_properties* properties, cl_int* errcode_ret) {
  return create_entry<cl_mem>(
      errcode_ret, [&] { return make_pipe(context, flags, pipe_packet_size, pipe_max_packets, properties); });
}

cl_int clGetPipeInfo(cl_mem pipe, cl_pipe_info param_name, size_t param_value_size, void* param_value,
                     size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    const Memory* const memory = downcast<Memory>(pipe);
    if (memory == nullptr || memory->pipe() == nullptr) return CL_INVALID_MEM_OBJECT;
    const InfoSink sink{param_value_size, param_value, param_value_size_ret};
    switch (param_name) {
      case CL_PIPE_PACKET_SIZE:
        return sink.scalar(memory->pipe()->packet_bytes);
      case CL_PIPE_MAX_PACKETS:
        return sink.scalar(memory->pipe()->max_packets);
      case CL_PIPE_PROPERTIES:
        return sink.bytes(nullptr, 0);  // pipes have no properties
      default:
        return CL_INVALID_VALUE;
    }
  });
}

}  // namespace fairgv::icd
