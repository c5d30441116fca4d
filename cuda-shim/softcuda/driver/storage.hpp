// This engine's hold on memory, arrays and texture objects: memory of the OpenCL device.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "cuda-shim/api/memory/memory_table.hpp"
#include "cuda-shim/api/memory/storage.hpp"
#include "cuda-shim/api/objects.hpp"
#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"
#include "runtime/base/exchange/exchange.hpp"

namespace fairgv::cuda::soft {

/// For linear memory, and for a texture or surface object: its blocks for kernels (image_block.hpp).
class OwnedMemory final : public Storage {
 public:
  explicit OwnedMemory(DeviceMemory memory) : memory_(std::move(memory)) {}
  ~OwnedMemory() override { retire(); }
  const DeviceMemory& memory() const { return memory_; }

  /// See DeviceMemory.
  Result<UniqueFd> share(std::size_t used) { return memory_.share(used); }
  /// It is offered to other processes until it is freed.
  void lend(std::shared_ptr<Exchange> through, const Ticket& ticket) {
    const std::lock_guard guard(lending_);
    lent_ = Lent{std::move(through), ticket};
  }
  std::optional<Ticket> lent_as() const {
    const std::lock_guard guard(lending_);
    return lent_ ? std::optional(lent_->ticket) : std::nullopt;
  }
  void retire() override {
    const std::lock_guard guard(lending_);
    if (lent_) lent_->through->withdraw(lent_->ticket);
    lent_.reset();
  }

 private:
  struct Lent {
    std::shared_ptr<Exchange> through;
    Ticket ticket;
  };

  DeviceMemory memory_;
  mutable std::mutex lending_;  // guards lent_
  std::optional<Lent> lent_;
};

/// Of an array: rows without gaps. The levels of a mipmapped array have their memory together.
class ArrayMemory final : public Storage {
 public:
  ArrayMemory(std::shared_ptr<const DeviceMemory> memory, std::uint64_t offset)
      : memory_(std::move(memory)), address_(memory_->address() + offset) {}
  std::uint64_t address() const { return address_; }

 private:
  const std::shared_ptr<const DeviceMemory> memory_;
  const std::uint64_t address_;
};

inline std::uint64_t address_of(const Array& array) {
  return static_cast<const ArrayMemory&>(*array.storage).address();
}

/// The memory of an allocation that this engine has made: not registered memory.
template <typename Object>
const DeviceMemory& memory_of(const Object& object) {
  return static_cast<const OwnedMemory&>(*object.storage).memory();
}

}  // namespace fairgv::cuda::soft
