// Memory for the objects of one kind, never given back to the system and never used for anything else.
//
// This makes a released handle harmless: its dispatch pointer stays where the loader looks for it, and its
// cleared tag is still readable, so the call ends in CL_INVALID_<OBJECT>, not in a crash. The pool also makes
// creating an event cheap. Any thread may call any method.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
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

  /// Whether `memory` is a piece of this pool, in use or not; it may be any address at all. Takes no lock:
  /// clSetKernelArg asks this of every argument that may be a handle.
  bool contains(const void* memory) const {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    // Acquire: pairs with the release store of grow(). The latest block is as big as all before it.
    for (std::size_t i = block_count_.load(std::memory_order_acquire); i-- > 0;) {
      const std::uintptr_t offset = address - blocks_[i];  // wraps around for addresses below the block
      if (offset < pieces_in(i) * sizeof(T)) return offset % sizeof(T) == 0;
    }
    return false;
  }

  /// In the child of a fork, where another thread may have held the lock: starts empty; the old blocks stay
  /// readable for ever.
  void forget() { std::construct_at(this); }

 private:
  static constexpr std::size_t kMostBlocks = 26;  // 4 billion objects
  static_assert(alignof(T) <= alignof(std::max_align_t), "calloc must do");

  /// Blocks double in size, so that there are few of them to look through.
  static constexpr std::size_t pieces_in(std::size_t block) { return std::size_t{64} << block; }

  void grow() {
    const std::size_t index = block_count_.load(std::memory_order_relaxed);
    if (index == kMostBlocks) throw std::bad_alloc();
    const std::size_t pieces = pieces_in(index);
    free_.reserve(2 * pieces);  // more than all blocks together have
    // Zeros: the tags must read as "no object" before the first use too.
    auto* const block = static_cast<std::byte*>(std::calloc(pieces, sizeof(T)));
    if (block == nullptr) throw std::bad_alloc();
    for (std::size_t i = pieces; i-- > 0;) free_.push_back(block + i * sizeof(T));
    blocks_[index] = reinterpret_cast<std::uintptr_t>(block);
    block_count_.store(index + 1, std::memory_order_release);
  }

  std::array<std::uintptr_t, kMostBlocks> blocks_{};  // up to block_count_: never changed
  std::atomic<std::size_t> block_count_{0};
  std::mutex mutex_;  // guards free_ and growing
  std::vector<void*> free_;
};

}  // namespace fairgv::icd
