#include "cuda-shim/api/memory/memory_table.hpp"

#include <iterator>
#include <mutex>
#include <utility>

namespace fairgv::cuda {

bool MemoryTable::charge(std::uint64_t bytes, std::uint64_t most) {
  std::uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (used > most || bytes > most - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

void MemoryTable::add(const std::shared_ptr<Allocation>& allocation) {
  const std::unique_lock guard(lock_);
  allocation->buffer_id = next_id_++;
  ranges_.insert_or_assign(allocation->begin, allocation);
}

std::shared_ptr<Allocation> MemoryTable::enter(std::uint64_t begin, std::uint64_t size, MemoryKind kind,
                                               CUcontext context, CUdevice device, unsigned flags) {
  auto allocation = std::make_shared<Allocation>();
  allocation->begin = begin;
  if (kind != MemoryKind::registered) allocation->begin_on_device = begin;
  allocation->size = size;
  allocation->kind = kind;
  allocation->flags = flags;
  allocation->context = context;
  allocation->device = device;
  const std::unique_lock guard(lock_);
  const auto after = ranges_.lower_bound(begin);
  if (after != ranges_.end() && after->first - begin < size) return nullptr;
  if (after != ranges_.begin()) {
    const Allocation& before = *std::prev(after)->second;
    if (begin - before.begin < before.size) return nullptr;
  }
  allocation->buffer_id = next_id_++;
  ranges_.emplace(begin, allocation);
  return allocation;
}

std::shared_ptr<Allocation> MemoryTable::find(std::uint64_t address) const {
  const std::shared_lock guard(lock_);
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return nullptr;
  const auto& candidate = std::prev(after)->second;
  return address - candidate->begin < candidate->size ? candidate : nullptr;
}

std::shared_ptr<Allocation> MemoryTable::find_begin(std::uint64_t address) const {
  const std::shared_lock guard(lock_);
  const auto found = ranges_.find(address);
  return found == ranges_.end() ? nullptr : found->second;
}

bool MemoryTable::covers(std::uint64_t address, std::uint64_t size) const {
  if (size == 0) return true;
  const auto allocation = find(address);
  return allocation != nullptr && size <= allocation->size - (address - allocation->begin);
}

void MemoryTable::remove(const Allocation& allocation) {
  std::shared_ptr<Allocation> kept;  // the caller's reference may be the table's own
  const std::unique_lock guard(lock_);
  const auto found = ranges_.find(allocation.begin);
  if (found == ranges_.end() || found->second.get() != &allocation) return;
  kept = std::move(found->second);
  ranges_.erase(found);
  removed(*kept);
}

void MemoryTable::remove_all_of(CUcontext context) {
  std::vector<std::shared_ptr<Allocation>> gone;  // destroyed without the lock
  const std::unique_lock guard(lock_);
  for (auto at = ranges_.begin(); at != ranges_.end();) {
    if (at->second->context == context) {
      removed(*at->second);
      gone.push_back(std::move(at->second));
      at = ranges_.erase(at);
    } else {
      ++at;
    }
  }
}

}  // namespace fairgv::cuda
