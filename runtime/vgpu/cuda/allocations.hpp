// The linear memory that a session's front end has allocated, by address.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/objects.hpp"

namespace fairgv::vgpu::cuda {

/// The loop thread's. Shared with the commands that free in a stream's order.
class Allocations {
 public:
  void add(std::uint64_t address, std::shared_ptr<Context> context, MemoryCharge charge) {
    by_address_[address] = {std::move(context), std::move(charge)};
  }
  bool contains(std::uint64_t address) const { return by_address_.contains(address); }
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
    by_address_.erase(found);
  }

 private:
  struct Allocation {
    std::shared_ptr<Context> context;
    MemoryCharge charge;
  };
  std::unordered_map<std::uint64_t, Allocation> by_address_;
  std::uint64_t freed_in_order_ = 0;
};

}  // namespace fairgv::vgpu::cuda
