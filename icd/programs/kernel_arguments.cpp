// A kernel's arguments: the application's values, and the changes that the worker does not know yet.
#include <algorithm>
#include <cstring>

#include "icd/objects/sampler.hpp"
#include "icd/programs/kernel.hpp"

namespace fairgv::icd {
namespace {

/// An argument's value as a handle; it may be any bits.
template <class Handle>
Handle handle_at(const void* value) {
  Handle handle = nullptr;
  std::memcpy(&handle, value, sizeof(handle));
  return handle;
}

wire::ArgumentKind kind_of(const Memory& memory) {
  if (memory.is_buffer()) return wire::ArgumentKind::memory;
  return memory.image() != nullptr ? wire::ArgumentKind::image : wire::ArgumentKind::pipe;
}

/// A size of local memory, capped so that sums do not overflow; no device has as much.
std::uint64_t countable(std::uint64_t bytes) {
  return std::min(bytes, std::uint64_t{1} << 47);
}

// Most values are numbers; with a known size, comparing and copying one is an instruction or two.

bool equal_values(const void* one, const void* other, std::size_t bytes) {
  if (bytes == 4) return std::memcmp(one, other, 4) == 0;
  if (bytes == 8) return std::memcmp(one, other, 8) == 0;
  return std::memcmp(one, other, bytes) == 0;
}

void copy_value(void* to, const void* from, std::size_t bytes) {
  if (bytes == 4) {
    std::memcpy(to, from, 4);
  } else if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

cl_int Kernel::set_argument(cl_uint index, std::size_t bytes, const void* value) {
  if (index >= argument_count_) return CL_INVALID_ARG_INDEX;
  Argument& argument = arguments_[index];
  switch (argument.type.kind) {
    case ArgumentClass::memory:
      return set_memory(argument, bytes, value);
    case ArgumentClass::local:
      return set_local(index, bytes, value);
    case ArgumentClass::value:
      return set_value(index, bytes, value);
    case ArgumentClass::image:
      return set_image(argument, description_.arguments[index].access_qualifier, bytes, value);
    case ArgumentClass::sampler:
      return set_sampler(argument, bytes, value);
    case ArgumentClass::pipe:
      return set_pipe(argument, bytes, value);
    case ArgumentClass::unknown:
      break;
  }
  return set_undescribed(index, bytes, value);
}

cl_int Kernel::set_svm_argument(cl_uint index, const void* pointer) {
  if (index >= argument_count_) return CL_INVALID_ARG_INDEX;
  Argument& argument = arguments_[index];
  const bool takes_pointer =
      argument.type.kind == ArgumentClass::memory || argument.type.kind == ArgumentClass::unknown;
  if (!takes_pointer) return CL_INVALID_ARG_VALUE;
  if (pointer == nullptr) {
    store(argument, wire::ArgumentKind::null_memory, 0);
    return CL_SUCCESS;
  }
  const auto range = context().svm().range(pointer, 1);
  if (!range) return CL_INVALID_ARG_VALUE;
  store(argument, wire::ArgumentKind::svm, 0, range->offset);
  return CL_SUCCESS;
}

cl_int Kernel::set_memory(Argument& argument, std::size_t bytes, const void* value) {
  if (bytes != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  cl_mem handle = nullptr;
  if (value != nullptr) std::memcpy(&handle, value, sizeof(handle));
  if (handle == nullptr) {
    store(argument, wire::ArgumentKind::null_memory, 0);
    return CL_SUCCESS;
  }
  const Memory* const memory = find<Memory>(handle);
  if (memory == nullptr || !memory->is_buffer()) return CL_INVALID_MEM_OBJECT;
  store_object(argument, wire::ArgumentKind::memory, *memory);
  return CL_SUCCESS;
}

/// A kernel must not read an image that is only written, nor the other way round.
cl_int Kernel::set_image(Argument& argument, cl_uint access, std::size_t bytes, const void* value) {
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  if (bytes != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  const Memory* const memory = find<Memory>(handle_at<cl_mem>(value));
  if (memory == nullptr || memory->image() == nullptr) return CL_INVALID_MEM_OBJECT;
  const bool refused =
      (access == CL_KERNEL_ARG_ACCESS_READ_ONLY && (memory->flags() & CL_MEM_WRITE_ONLY) != 0) ||
      (access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY && (memory->flags() & CL_MEM_READ_ONLY) != 0);
  if (refused) return CL_INVALID_ARG_VALUE;
  store_object(argument, wire::ArgumentKind::image, *memory);
  return CL_SUCCESS;
}

cl_int Kernel::set_sampler(Argument& argument, std::size_t bytes, const void* value) {
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  if (bytes != sizeof(cl_sampler)) return CL_INVALID_ARG_SIZE;
  const Sampler* const sampler = find<Sampler>(handle_at<cl_sampler>(value));
  if (sampler == nullptr) return CL_INVALID_SAMPLER;
  store_object(argument, wire::ArgumentKind::sampler, *sampler);
  return CL_SUCCESS;
}

cl_int Kernel::set_pipe(Argument& argument, std::size_t bytes, const void* value) {
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  if (bytes != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  const Memory* const memory = find<Memory>(handle_at<cl_mem>(value));
  if (memory == nullptr || memory->pipe() == nullptr) return CL_INVALID_MEM_OBJECT;
  store_object(argument, wire::ArgumentKind::pipe, *memory);
  return CL_SUCCESS;
}

cl_int Kernel::set_local(cl_uint index, std::size_t bytes, const void* value) {
  Argument& argument = arguments_[index];
  if (value != nullptr) return CL_INVALID_ARG_VALUE;
  if (bytes == 0) {
    // No driver should take this; some do.
    if (argument.type.kind != ArgumentClass::local) return CL_INVALID_ARG_SIZE;
    if (const cl_int error = ask_for_size(index, bytes)) return error;
  }
  const bool replaces = argument.set && argument.kind == wire::ArgumentKind::local;
  local_bytes_ += countable(bytes) - (replaces ? countable(argument.bytes) : 0);
  store(argument, wire::ArgumentKind::local, bytes);
  return CL_SUCCESS;
}

/// The driver decides the sizes that a value may have: it alone knows the program's own types, and some
/// drivers take a float3 in 12 bytes. The driver is asked once for each size that differs from the size of
/// the type's name.
cl_int Kernel::ask_for_size(cl_uint index, std::size_t bytes) {
  const auto reply = program_->connection().call(wire::CheckArgumentSize{id_, index, bytes});
  if (!reply) return kSessionLost;
  if (reply->error == CL_SUCCESS) arguments_[index].accepted = bytes;
  return reply->error;
}

cl_int Kernel::set_value(cl_uint index, std::size_t bytes, const void* value) {
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  if (bytes == 0) return CL_INVALID_ARG_SIZE;
  return store_value(index, bytes, value);
}

/// Without the driver's description, an argument is a handle if its value is a live handle of ours.
cl_int Kernel::set_undescribed(cl_uint index, std::size_t bytes, const void* value) {
  Argument& argument = arguments_[index];
  if (bytes == 0) return CL_INVALID_ARG_SIZE;
  if (value == nullptr) return set_local(index, bytes, value);
  if (bytes == sizeof(cl_mem)) {
    if (const Memory* const memory = find<Memory>(handle_at<cl_mem>(value))) {
      store_object(argument, kind_of(*memory), *memory);
      return CL_SUCCESS;
    }
    if (const Sampler* const sampler = find<Sampler>(handle_at<cl_sampler>(value))) {
      store_object(argument, wire::ArgumentKind::sampler, *sampler);
      return CL_SUCCESS;
    }
  }
  return store_value(index, bytes, value);
}

inline void Kernel::mark_set(Argument& argument) {
  if (argument.set && argument.changed) [[likely]]
    return;
  if (!argument.set) --unset_;
  if (!argument.changed) ++changed_;
  argument.set = true;
  argument.changed = true;
}

// Setting the same value again costs the launch nothing.

inline void Kernel::store(Argument& argument, wire::ArgumentKind kind, std::uint64_t bytes,
                          std::uint64_t position) {
  const bool same = argument.set && argument.kind == kind && argument.bytes == bytes;
  if (same && argument.object == position) return;
  argument.kind = kind;
  argument.bytes = bytes;
  argument.object = position;
  mark_set(argument);
}

template <class Owner>
inline void Kernel::store_object(Argument& argument, wire::ArgumentKind kind, const Owner& owner) {
  const std::uint64_t object = owner.id().raw;
  if (argument.set && argument.kind == kind && argument.object == object) return;
  argument.kind = kind;
  argument.bytes = 0;
  argument.object = object;
  argument.owner = &owner;
  mark_set(argument);
}

inline cl_int Kernel::store_value(cl_uint index, std::size_t bytes, const void* value) {
  Argument& argument = arguments_[index];
  if (bytes != argument.type.bytes && bytes != argument.accepted) [[unlikely]] {
    if (const cl_int error = ask_for_size(index, bytes)) return error;
  }
  const bool same = argument.set && argument.kind == wire::ArgumentKind::value && argument.bytes == bytes &&
                    equal_values(argument.value.data(), value, bytes);
  if (same) return CL_SUCCESS;
  if (argument.value.size() != bytes) [[unlikely]]
    resize_value(argument, bytes);
  copy_value(argument.value.data(), value, bytes);
  argument.kind = wire::ArgumentKind::value;
  argument.bytes = bytes;
  argument.object = 0;
  mark_set(argument);
  return CL_SUCCESS;
}

void Kernel::resize_value(Argument& argument, std::size_t bytes) {
  argument.value.resize(bytes);
}

/// A pool's memory stays readable, but another object may live there by now.
bool Kernel::has_live_object(const Argument& argument) {
  const auto is_alive = [&](const auto& owner) { return owner.alive() && owner.id().raw == argument.object; };
  switch (argument.kind) {
    case wire::ArgumentKind::memory:
    case wire::ArgumentKind::image:
    case wire::ArgumentKind::pipe:
      return is_alive(*static_cast<const Memory*>(argument.owner));
    case wire::ArgumentKind::sampler:
      return is_alive(*static_cast<const Sampler*>(argument.owner));
    default:
      return true;
  }
}

bool Kernel::collect_changes() {
  updates_.clear();
  values_.clear();
  bool complete = true;
  for (std::uint32_t i = 0; i < arguments_.size(); ++i) {
    const Argument& argument = arguments_[i];
    if (!argument.changed) continue;
    if (!has_live_object(argument)) {
      complete = false;
      continue;
    }
    std::uint64_t position = argument.object;
    if (argument.kind == wire::ArgumentKind::value) {
      position = values_.size();
      values_.insert(values_.end(), argument.value.begin(), argument.value.end());
    }
    updates_.push_back({i, argument.kind, argument.bytes, position});
  }
  return complete;
}

void Kernel::mark_known() {
  for (const wire::ArgumentUpdate& update : updates_) arguments_[update.index].changed = false;
  changed_ -= static_cast<std::uint32_t>(updates_.size());
}

}  // namespace fairgv::icd
