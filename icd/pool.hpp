// Memory for the objects of one kind, never given back to the system and never used for anything else.
//
// That is what makes a released handle harmless: its dispatch pointer stays where the loader looks for it and
// its cleared tag is still readable, so the call ends in CL_INVALID_<OBJECT>, not in a crash. It also makes
// creating an event cheap. Any thread may call any method.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace fairgv::icd {

template <class T>
class Pool {
 public:
  /// Uninitialised memory for one T. Throws std::bad_alloc.
  void* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) grow();
    void* memory = free_.back();
    free_.pop_back();
    return memory;
  }

  void give_back(void* memory) noexcept {
    const std::lock_guard lock(mutex_);
    free_.push_back(memory);  // cannot throw: grow() reserved room for every piece
  }

  /// Whether `memory` is a piece of this pool, in use or not; it may be any address at all.
  bool contains(const void* memory) const {
    const std::lock_guard lock(mutex_);
    const auto* address = static_cast<const std::byte*>(memory);
    return std::any_of(blocks_.begin(), blocks_.end(), [&](const std::byte* block) {
      const std::less<const std::byte*> below;
      return !below(address, block) && below(address, block + kPiecesPerBlock * sizeof(T)) &&
             static_cast<std::size_t>(address - block) % sizeof(T) == 0;
    });
  }

  /// In the child of a fork, where another thread may have held the lock: starts empty; the old blocks stay
  /// readable for ever.
  void forget() { std::construct_at(this); }

 private:
  static constexpr std::size_t kPiecesPerBlock = 64;

  void grow() {
    blocks_.reserve(blocks_.size() + 1);
    free_.reserve((blocks_.size() + 1) * kPiecesPerBlock);
    auto* block =
        static_cast<std::byte*>(::operator new (kPiecesPerBlock * sizeof(T), std::align_val_t{alignof(T)}));
    blocks_.push_back(block);
    // The tags must read as "no object" before the first use too.
    std::fill_n(block, kPiecesPerBlock * sizeof(T), std::byte{0});
    for (std::size_t i = kPiecesPerBlock; i-- > 0;) free_.push_back(block + i * sizeof(T));
  }

  mutable std::mutex mutex_;
  std::vector<std::byte*> blocks_;
  std::vector<void*> free_;
};

}  // namespace fairgv::icd
