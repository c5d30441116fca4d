// Chooses the ids of the front end's objects: a free index, and a generation that makes the id new.
#pragma once

#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "runtime/wire/ids.hpp"

namespace fairgv::session {

/// Any thread may call any method.
class ObjectIds {
 public:
  /// `limit`: how many ids there are at a time.
  explicit ObjectIds(std::uint32_t limit) : limit_(limit) {}

  /// Throws std::bad_alloc when all are in use.
  wire::ObjectId acquire() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      if (generations_.size() >= limit_) throw std::bad_alloc();
      generations_.push_back(1);
      return wire::ObjectId::make(static_cast<std::uint32_t>(generations_.size() - 1), 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return wire::ObjectId::make(index, generations_[index]);
  }

  /// The id may be used again (with the next generation) for calls sent from now on.
  void release(wire::ObjectId id) {
    const std::lock_guard lock(mutex_);
    std::uint32_t& generation = generations_[id.index()];
    if (generation != id.generation()) return;
    if (++generation == 0) generation = 1;
    free_.push_back(id.index());
  }

 private:
  const std::uint32_t limit_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> generations_;
};

}  // namespace fairgv::session
