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

bool MemoryTable::covers(std::uint64_t address, std::uint64_t size, Use use) const {
  if (size == 0) return true;
  const std::shared_lock guard(lock_);
  auto at = ranges_.upper_bound(address);
  if (at == ranges_.begin()) return false;
  --at;
  for (std::uint64_t left = size; at != ranges_.end() && at->second->allows(use); ++at) {
    const Allocation& allocation = *at->second;
    const std::uint64_t offset = address - allocation.begin;
    if (offset >= allocation.size) return false;  // a gap, or no memory at all
    if (left <= allocation.size - offset) return true;
    if (allocation.kind != MemoryKind::ranged) return false;
    left -= allocation.size - offset;
    address = allocation.begin + allocation.size;
    const auto next = std::next(at);
    if (next == ranges_.end() || next->first != address || next->second->kind != MemoryKind::ranged)
      return false;
  }
  return false;
}

std::shared_ptr<Allocation> MemoryTable::mapped(const Allocation& registered, CUcontext context) const {
  const std::shared_lock guard(lock_);
  const auto found = mapped_.find({registered.begin, context});
  return found == mapped_.end() ? nullptr : found->second;
}

bool MemoryTable::is_mapped(const Allocation& registered) const {
  const std::shared_lock guard(lock_);
  const auto first = mapped_.lower_bound({registered.begin, nullptr});
  return first != mapped_.end() && first->first.first == registered.begin;
}

std::shared_ptr<Allocation> MemoryTable::enter_mapped(const Allocation& registered,
                                                      const std::shared_ptr<Allocation>& mapped) {
  const std::unique_lock guard(lock_);
  const auto found = ranges_.find(registered.begin);
  if (found == ranges_.end() || found->second.get() != &registered) return nullptr;
  const auto [kept, is_first] = mapped_.emplace(std::pair(registered.begin, mapped->context), mapped);
  if (is_first) {
    mapped->buffer_id = registered.buffer_id;
    ranges_.insert_or_assign(mapped->begin, mapped);
  }
  return kept->second;
}

void MemoryTable::take_out(const Allocation& allocation, Gone& gone) {
  const auto found = ranges_.find(allocation.begin);
  if (found == ranges_.end() || found->second.get() != &allocation) return;
  const auto taken = std::move(found->second);  // the caller's reference may be the table's own
  ranges_.erase(found);
  discharge(taken->charged);
  gone.push_back(taken);
  if (taken->kind == MemoryKind::mapped) mapped_.erase({taken->program_begin, taken->context});
  if (taken->kind != MemoryKind::registered) return;
  for (auto at = mapped_.lower_bound({taken->begin, nullptr});
       at != mapped_.end() && at->first.first == taken->begin; at = mapped_.erase(at)) {
    ranges_.erase(at->second->begin);
    gone.push_back(at->second);
  }
}

void MemoryTable::retire(const Gone& gone) {
  for (const auto& allocation : gone) {
    if (allocation->storage) allocation->storage->retire();
  }
}

void MemoryTable::remove(const Allocation& allocation) {
  Gone gone;
  {
    const std::unique_lock guard(lock_);
    take_out(allocation, gone);
  }
  retire(gone);
}

void MemoryTable::remove_all_of(CUcontext context) {
  Gone gone;
  {
    const std::unique_lock guard(lock_);
    Gone wanted;
    for (const auto& [begin, allocation] : ranges_) {
      if (allocation->context == context) wanted.push_back(allocation);
    }
    for (const auto& allocation : wanted) take_out(*allocation, gone);
  }
  retire(gone);
}

}  // namespace fairgv::cuda
