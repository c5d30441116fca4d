// The linear memory that a session's front end has allocated, by address.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/ipc/lent_memory.hpp"
#include "runtime/vgpu/cuda/objects.hpp"

namespace fairgv::vgpu::cuda {

/// The loop thread's. Shared with the commands that free in a stream's order.
class Allocations {
 public:
  /// It outlives them.
  explicit Allocations(const Functions& driver) : lent_(driver) {}

  LentMemory& lent() { return lent_; }
  void add(std::uint64_t address, std::shared_ptr<Context> context, MemoryCharge charge) {
    by_address_[address] = {std::move(context), std::move(charge)};
  }
  bool contains(std::uint64_t address) const { return by_address_.contains(address); }
  /// Null: no memory begins there.
  std::shared_ptr<Context> context_of(std::uint64_t address) const {
    const auto found = by_address_.find(address);
    return found == by_address_.end() ? nullptr : found->second.context;
  }
  /// A command will free it.
  void expect(std::uint64_t address) {
    if (const auto found = by_address_.find(address); found != by_address_.end())
      found->second.charge.expect();
  }
  /// Frees in a stream's order that are done.
  std::uint64_t freed_in_order() const { return freed_in_order_; }
  void free_in_order(std::uint64_t address) {
    free(address);
    ++freed_in_order_;
  }
  /// Gives it back to the driver, then to the quota. An address that is not known is left alone.
  void free(std::uint64_t address) {
    const auto found = by_address_.find(address);
    if (found == by_address_.end()) return;
    const Context& context = *found->second.context;
    if (use(context.driver, context.handle) == CUDA_SUCCESS) context.driver.cuMemFree(address);
    lent_.freed(address, std::move(found->second.charge));
    by_address_.erase(found);
  }

 private:
  struct Allocation {
    std::shared_ptr<Context> context;
    MemoryCharge charge;
  };
  LentMemory lent_;
  std::unordered_map<std::uint64_t, Allocation> by_address_;
  std::uint64_t freed_in_order_ = 0;
};

}  // namespace fairgv::vgpu::cuda
