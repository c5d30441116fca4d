#include "runtime/vgpu/opencl/move/write_log.hpp"

#include "runtime/vgpu/opencl/objects.hpp"
#include "runtime/vgpu/opencl/residency/buffer_block.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// The object whose memory it is in, which may be itself.
const Object& owner_of_memory(const Object& object) {
  const Object* owner = &object;
  for (;;) {
    const Object* next = nullptr;
    if (owner->kind() == ObjectKind::buffer) next = static_cast<const Buffer*>(owner)->parent.get();
    if (owner->kind() == ObjectKind::image) next = static_cast<const Image*>(owner)->memory.get();
    if (next == nullptr) return *owner;
    owner = next;
  }
}

}  // namespace

void WriteLog::note(const Object& object) {
  if (object.kind() != ObjectKind::buffer && object.kind() != ObjectKind::image) return;
  const Object& owner = owner_of_memory(object);
  if (const auto block = block_of(owner)) block->changes();
  if (on_) written_.insert(owner.id.raw);
}

}  // namespace fairgv::vgpu::opencl
