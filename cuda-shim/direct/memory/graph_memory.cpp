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

void GraphMemory::hold(std::uint64_t executable, Bytes bytes) {
  const std::lock_guard lock(mutex_);
  held_.insert_or_assign(executable, std::move(bytes));
}

GraphMemory::Bytes GraphMemory::take(std::uint64_t executable) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(executable);
  if (found == held_.end()) return {};
  Bytes bytes = std::move(found->second);
  held_.erase(found);
  return bytes;
}

void GraphMemory::gone(const Bytes& bytes) {
  for (const auto& [device, size] : bytes) {
    {
      const std::lock_guard lock(mutex_);
      gone_[device] += size;
    }
    settle(device);
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
