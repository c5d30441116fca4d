// Device memory: the front end's reservations, and the charges of objects.
#include <limits>

#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {

Result<wire::MemoryReply> Handlers::handle(const wire::ReserveMemory& call) {
  MemoryAccount* const memory = settings_.memory;
  if (memory == nullptr) return wire::MemoryReply{call.bytes + call.headroom};
  const std::uint64_t released = memory->released();
  auto granted = memory->reserve(call.devices, call.bytes, call.headroom);
  if (granted && granted.value() < call.bytes) {
    // Objects that were released while commands used them may only have to be looked at to be gone.
    loop().pump();
    if (memory->released() != released) granted = memory->reserve(call.devices, call.bytes, call.headroom);
  }
  if (!granted) return granted.error();
  return wire::MemoryReply{granted.value()};
}

Result<void> Handlers::handle(const wire::ReturnMemory& call) {
  if (settings_.memory == nullptr) return {};
  return settings_.memory->give_back(call.devices, call.bytes);
}

Result<wire::MemoryReply> Handlers::handle(const wire::GetMemoryLeft& call) {
  if (settings_.memory == nullptr) return wire::MemoryReply{std::numeric_limits<std::uint64_t>::max()};
  loop().pump();  // memory held by commands that have ended is not in use
  FAIRGV_TRY(left, settings_.memory->left(call.device));
  return wire::MemoryReply{left.value()};
}

/// A kernel keeps the arguments of its last launch. That the program has released them matters only here:
/// while there is enough memory, drivers do as they like about a launch that uses them again.
Result<void> Handlers::handle(const wire::AwaitMemory& call) {
  objects_.each<Kernel>([](Kernel& kernel) { kernel.forget_released_arguments(); });
  return memory_waits_.await(loop(), call);
}

template <class Made>
Result<void> Handlers::charge(Made& object, std::uint64_t bytes, bool front_end_hears) {
  if (settings_.memory == nullptr) return {};
  FAIRGV_TRY(charge, settings_.memory->charge(object.context->charged, bytes, front_end_hears));
  if (charge.value()) {
    object.charge = std::move(*charge.value());
  } else if (object.error == CL_SUCCESS) {
    object.error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  }
  return {};
}
template Result<void> Handlers::charge(Buffer&, std::uint64_t, bool);
template Result<void> Handlers::charge(Image&, std::uint64_t, bool);
template Result<void> Handlers::charge(Pipe&, std::uint64_t, bool);

Residency* Handlers::lender_of(const Context& context) const {
  if (settings_.residencies == nullptr || context.devices.size() != 1) return nullptr;
  return settings_.residencies->of(driver_.devices()[context.devices.front()].root);
}

template <class Made>
void Handlers::note_other(Made& object, std::uint64_t bytes) {
  if (settings_.residencies == nullptr || object.error != CL_SUCCESS) return;
  object.charge.stays(OtherMemory(*settings_.residencies, object.context->roots, bytes));
}
template void Handlers::note_other(Buffer&, std::uint64_t);
template void Handlers::note_other(Image&, std::uint64_t);
template void Handlers::note_other(Pipe&, std::uint64_t);

}  // namespace fairgv::vgpu::opencl
