#include "cuda-shim/direct/memory/graph_memory.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::cuda::direct {

bool GraphMemory::charge(const Bytes& bytes) {
  Bytes charged;
  for (const auto& [device, size] : bytes) {
    if (!books_.charge(device, size)) {
      give_back(charged);
      return false;
    }
    charged[device] = size;
  }
  return true;
}

void GraphMemory::give_back(const Bytes& bytes) {
  for (const auto& [device, size] : bytes) books_.give_back(device, size);
}

void GraphMemory::hold(std::uint64_t executable, Allocations allocations) {
  const std::lock_guard lock(mutex_);
  held_.insert_or_assign(executable, std::move(allocations));
}

GraphMemory::Allocations GraphMemory::take(std::uint64_t executable) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(executable);
  if (found == held_.end()) return {};
  Allocations allocations = std::move(found->second);
  held_.erase(found);
  return allocations;
}

void GraphMemory::gone(const Allocations& allocations) {
  for (const auto& [device, size] : allocations.all) {
    const auto lasting = allocations.lasting.find(device);
    const std::uint64_t lasts = lasting == allocations.lasting.end() ? 0 : lasting->second;
    if (lasts > 0) {
      const std::lock_guard lock(mutex_);
      gone_[device] += lasts;
    }
    if (!settle(device)) books_.trim(device);
    if (size > lasts) books_.give_back(device, size - lasts);
  }
}

bool GraphMemory::settle(std::uint32_t device) {
  {
    const std::lock_guard lock(mutex_);
    if (!gone_.contains(device)) return false;
  }
  const std::uint64_t kept = books_.trim(device);
  std::uint64_t over = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto gone = gone_.find(device);
    if (gone == gone_.end()) return false;  // another thread has settled it
    over = gone->second - std::min(gone->second, kept);
    gone->second -= over;
    if (gone->second == 0) gone_.erase(gone);
  }
  if (over > 0) books_.give_back(device, over);
  return over > 0;
}

}  // namespace fairgv::cuda::direct
