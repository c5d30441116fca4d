// The linear memory that a session's front end has allocated, by address, and the parts of the arena that are
// pinned.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/ipc/lent_memory.hpp"
#include "runtime/vgpu/cuda/objects.hpp"

namespace fairgv::vgpu::cuda {

/// The loop thread's. Shared with the commands that free in a stream's order.
class Allocations {
 public:
  struct Allocation {
    std::shared_ptr<Context> context;
    std::uint64_t bytes = 0;    // that the driver was asked for
    std::uint64_t charged = 0;  // bytes
    MemoryCharge charge;
    std::shared_ptr<const void> block{};  // that was mapped for it; null: the driver has allocated it
  };

  /// It outlives them.
  explicit Allocations(const Functions& driver) : lent_(driver) {}

  LentMemory& lent() { return lent_; }
  void add(std::uint64_t address, Allocation allocation) { by_address_[address] = std::move(allocation); }
  bool contains(std::uint64_t address) const { return by_address_.contains(address); }
  /// Null: no memory begins there.
  std::shared_ptr<Context> context_of(std::uint64_t address) const {
    const auto found = by_address_.find(address);
    return found == by_address_.end() ? nullptr : found->second.context;
  }
  /// Calls visit(address, allocation) with each, but those that a command has freed which has ended.
  template <class Visit>
  void each(const Visit& visit) const {
    std::set<std::uint64_t> freed;
    for (const auto& [command, address] : frees_) {
      if (command->ended()) freed.insert(address);
    }
    for (const auto& [address, allocation] : by_address_) {
      if (!freed.contains(address)) visit(address, allocation);
    }
  }

  /// A command, which is there until it frees it, will.
  void expect(const Node& command, std::uint64_t address) {
    frees_.emplace(&command, address);
    if (const auto found = by_address_.find(address); found != by_address_.end())
      found->second.charge.expect();
  }
  void free_in_order(const Node& command, std::uint64_t address) {
    frees_.erase(&command);
    free(address);
    ++freed_in_order_;
  }
  /// Frees in a stream's order that are done.
  std::uint64_t freed_in_order() const { return freed_in_order_; }
  /// Those, too, whose commands have ended and are still there. At rest.
  std::uint64_t freed_or_ended() const {
    std::uint64_t count = freed_in_order_;
    for (const auto& [command, address] : frees_) count += command->ended() ? 1U : 0U;
    return count;
  }
  void begin_at(std::uint64_t freed_in_order) { freed_in_order_ = freed_in_order; }

  /// Gives it back to the driver, then to the quota. An address that is not known is left alone.
  void free(std::uint64_t address) {
    const auto found = by_address_.find(address);
    if (found == by_address_.end()) return;
    const Context& context = *found->second.context;
    if (found->second.block == nullptr && use(context.driver, context.handle) == CUDA_SUCCESS)
      context.driver.cuMemFree(address);
    lent_.freed(address, std::move(found->second.charge));
    by_address_.erase(found);
  }

 private:
  LentMemory lent_;
  std::unordered_map<std::uint64_t, Allocation> by_address_;
  std::map<const Node*, std::uint64_t> frees_;  // commands that are there, and the addresses
  std::uint64_t freed_in_order_ = 0;
};

/// A part of the arena that kernels may use.
struct Pinned {
  std::shared_ptr<Context> context;
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  // as kernels have it
};
/// By offset in the arena.
using PinnedParts = std::map<std::uint64_t, Pinned>;

}  // namespace fairgv::vgpu::cuda
