#include "icd/memory/svm.hpp"

#include <iterator>

#include "icd/memory/memory.hpp"
#include "icd/objects/context.hpp"

namespace fairgv::icd {

cl_device_svm_capabilities svm_capabilities(const Context& context) {
  cl_device_svm_capabilities common = ~cl_device_svm_capabilities{0};
  for (Device* device : context.devices()) common &= device->svm_capabilities();
  return common;
}

SvmAllocations::SvmAllocations() = default;
SvmAllocations::~SvmAllocations() = default;

void* SvmAllocations::add(Ref<Memory> buffer) {
  std::byte* const begin = buffer->direct_data();
  const std::lock_guard lock(mutex_);
  by_begin_.emplace(reinterpret_cast<std::uintptr_t>(begin), std::move(buffer));
  count_.store(by_begin_.size(), std::memory_order_relaxed);
  return begin;
}

void SvmAllocations::free(const void* pointer) {
  Ref<Memory> freed;  // destroyed without the lock: the context, with this object, may be destroyed too
  const std::lock_guard lock(mutex_);
  const auto found = by_begin_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == by_begin_.end()) return;
  freed = std::move(found->second);
  by_begin_.erase(found);
  count_.store(by_begin_.size(), std::memory_order_relaxed);
}

SvmAllocations::Place SvmAllocations::find(const void* address) const {
  // Relaxed: a thread with a pointer from add() has learnt of it by other means.
  if (count_.load(std::memory_order_relaxed) == 0) return {};
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto found = by_begin_.upper_bound(wanted);
  if (found == by_begin_.begin()) return {};
  --found;
  const std::uint64_t offset = wanted - found->first;
  if (offset >= found->second->bytes()) return {};
  return {found->second, offset};
}

std::optional<wire::ArenaRange> SvmAllocations::range(const void* address, std::uint64_t bytes) const {
  const Place place = find(address);
  if (!place || !place.memory->has_range(place.offset, bytes)) return std::nullopt;
  return wire::ArenaRange{place.memory->backing().range.offset + place.offset, bytes};
}

}  // namespace fairgv::icd
