#include "cuda-shim/driver/staging.hpp"

#include <utility>
#include <vector>

#include "cuda-shim/driver/scheduler.hpp"

namespace fairgv::cuda::remote {

bool StagingPool::reclaim(bool wait) {
  std::vector<Used> ended;
  std::optional<Used> oldest;
  {
    const std::lock_guard guard(mutex_);
    while (!used_.empty() && used_.front().copied->done()) {
      bytes_ -= used_.front().range.bytes;
      ended.push_back(std::move(used_.front()));
      used_.pop_front();
    }
    if (wait && ended.empty() && !used_.empty()) {
      oldest = std::move(used_.front());
      used_.pop_front();
      bytes_ -= oldest->range.bytes;
    }
  }
  if (oldest) {
    oldest->copied->wait();
    give_back(oldest->range);
  }
  for (const Used& used : ended) give_back(used.range);
  return oldest || !ended.empty();
}

std::optional<wire::ArenaRange> StagingPool::take(std::uint64_t bytes) {
  reclaim(false);
  const auto crowded = [this] {
    const std::lock_guard guard(mutex_);
    return bytes_ > patience_;
  };
  while (crowded() && reclaim(true)) {
  }
  for (;;) {
    if (const auto range = connection_.session().allocate(bytes)) return range;
    if (!reclaim(true)) return std::nullopt;
  }
}

void StagingPool::give_back_after(std::shared_ptr<Operation> copied, wire::ArenaRange range) {
  const std::lock_guard guard(mutex_);
  bytes_ += range.bytes;
  used_.push_back({std::move(copied), range});
}

}  // namespace fairgv::cuda::remote
