#include "runtime/daemon/limits/request_queue.hpp"

#include <algorithm>

namespace fairgv::daemon {
namespace {

/// Beyond it, owners who wait for nothing are forgotten.
constexpr std::size_t kMostLanes = 4'096;

}  // namespace

void RequestQueue::add(uid_t owner, std::uint64_t key) {
  Lane& lane = lanes_.try_emplace(owner, Lane{{kTimeOfEach, {}}, {}}).first->second;
  if (lane.keys.empty()) turns_.push_back(owner);
  lane.keys.push_back(key);
}

void RequestQueue::forget(uid_t owner, std::uint64_t key) {
  const auto found = lanes_.find(owner);
  if (found == lanes_.end() || std::erase(found->second.keys, key) == 0) return;
  if (found->second.keys.empty()) std::erase(turns_, owner);
}

std::optional<std::uint64_t> RequestQueue::next(Time now) {
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    const uid_t owner = turns_[i];
    if (!has_time(owner, now)) continue;
    std::deque<std::uint64_t>& keys = lanes_.at(owner).keys;
    const std::uint64_t key = keys.front();
    keys.pop_front();
    turns_.erase(turns_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!keys.empty()) turns_.push_back(owner);
    return key;
  }
  return std::nullopt;
}

void RequestQueue::charge(uid_t owner, std::chrono::nanoseconds took, Time now) {
  if (lanes_.size() > kMostLanes) sweep(now);
  Lane& lane = lanes_.try_emplace(owner, Lane{{kTimeOfEach, now}, {}}).first->second;
  lane.time.take(std::chrono::duration<double>(took).count(), kTimeOfEach, now);
}

bool RequestQueue::has_time(uid_t owner, Time now) const {
  const auto found = lanes_.find(owner);
  return found == lanes_.end() || found->second.time.level(kTimeOfEach, now) > 0;
}

std::optional<RequestQueue::Time> RequestQueue::deadline() const {
  std::optional<Time> first;
  for (const uid_t owner : turns_) {
    const Time at = lanes_.at(owner).time.reaches(0, kTimeOfEach) + std::chrono::nanoseconds(1);
    if (!first || at < *first) first = at;
  }
  return first;
}

/// Forgets owners with a full budget, who are as good as new; if these are too few, all owners who wait for
/// nothing.
void RequestQueue::sweep(Time now) {
  std::erase_if(lanes_, [&](const auto& entry) {
    return entry.second.keys.empty() && entry.second.time.is_full(kTimeOfEach, now);
  });
  if (lanes_.size() <= kMostLanes) return;
  std::erase_if(lanes_, [](const auto& entry) { return entry.second.keys.empty(); });
}

}  // namespace fairgv::daemon
