#include "cuda-shim/direct/memory/mappings.hpp"

namespace fairgv::cuda::direct {

void Mappings::retained(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  ++uses_[handle].handles;
}

void Mappings::released(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  Uses& uses = uses_[handle];
  if (uses.handles > 0) --uses.handles;
  settle(handle);
}

void Mappings::mapped(std::uint64_t handle, std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  ++uses_[handle].mappings;
  by_address_.insert_or_assign(address, handle);
}

void Mappings::unmapped(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  auto mapping = by_address_.lower_bound(address);
  while (mapping != by_address_.end() && mapping->first - address < bytes) {
    const std::uint64_t handle = mapping->second;
    mapping = by_address_.erase(mapping);
    if (uses_[handle].mappings > 0) --uses_[handle].mappings;
    settle(handle);
  }
}

/// Gives the memory back after its last use.
void Mappings::settle(std::uint64_t handle) {
  const auto found = uses_.find(handle);
  if (found->second.handles + found->second.mappings > 0) return;
  uses_.erase(found);
  if (const auto holding = ledger_.take({Ledger::Kind::physical, handle})) ledger_.give_back(*holding);
}

}  // namespace fairgv::cuda::direct
