// The conditions of one launch: it has them to itself, and they have their default values where it begins.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/graph/conditional/condition.hpp"

namespace fairgv::cuda {

/// While this object lives, no other launch with one of the conditions is put into a stream.
class LaunchOfConditions {
 public:
  explicit LaunchOfConditions(std::vector<std::shared_ptr<Condition>> conditions)
      : conditions_(std::move(conditions)) {
    std::ranges::sort(conditions_);  // always the same order, so that launches do not block each other
    conditions_.erase(std::unique(conditions_.begin(), conditions_.end()), conditions_.end());
    for (const auto& condition : conditions_) locks_.emplace_back(condition->lock);
  }

  /// Behind the last launch of each condition, default values are set.
  CUresult begin(Driver& driver, const std::shared_ptr<Stream>& stream) const {
    for (const auto& condition : conditions_) {
      const auto& last = condition->last_launch;
      if (last && !last->done()) driver.scheduler.mark(stream, last);
    }
    CUresult code = CUDA_SUCCESS;
    for (const auto& condition : conditions_) {
      if (code == CUDA_SUCCESS) code = condition->assign_default(driver, stream);
    }
    return code;
  }
  /// All of the launch is in the stream.
  void end(Driver& driver, const std::shared_ptr<Stream>& stream) const {
    const auto last = driver.scheduler.mark(stream, nullptr);
    for (const auto& condition : conditions_) condition->last_launch = last;
  }

 private:
  std::vector<std::shared_ptr<Condition>> conditions_;
  std::vector<std::unique_lock<std::mutex>> locks_;
};

}  // namespace fairgv::cuda
