// Where objects lay whose addresses the program knows, in the worker that had the session before this one.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <unordered_map>

#include "runtime/vgpu/cuda/driver.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu::cuda {

/// The loop thread's.
class Places {
 public:
  void put(wire::ObjectId object, std::uint64_t address) { by_object_[object.raw] = address; }
  /// Asked once, when the object is made. 0: it may lie anywhere.
  std::uint64_t take(wire::ObjectId object) {
    const auto found = by_object_.find(object.raw);
    if (found == by_object_.end()) return 0;
    const std::uint64_t address = found->second;
    by_object_.erase(found);
    return address;
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> by_object_;
};

/// As long as it is there, the next memory that the calling thread has the driver make lies at `address`, or
/// cannot be made; 0: anywhere.
class PlacedNext {
 public:
  PlacedNext(const Functions& driver, std::uint64_t address)
      : place_next_(address != 0 ? driver.place_next : nullptr) {
    if (place_next_ != nullptr) place_next_(address);
  }
  PlacedNext(const PlacedNext&) = delete;
  PlacedNext& operator=(const PlacedNext&) = delete;
  ~PlacedNext() {
    if (place_next_ != nullptr) place_next_(0);
  }

 private:
  void (*const place_next_)(CUdeviceptr address);
};

}  // namespace fairgv::vgpu::cuda
