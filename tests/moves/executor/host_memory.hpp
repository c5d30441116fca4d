// Memory of the program that commands read or fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "tests/moves/plan/commands.hpp"
#include "tests/moves/plan/random.hpp"

namespace fairgv::moves {

/// Writes the bytes that follow from the seed.
inline void fill_with(std::uint64_t seed, std::uint8_t* to, std::size_t bytes) {
  Random random(seed);
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t value = random.next();
    std::memcpy(to + at, &value, bytes - at < sizeof(value) ? bytes - at : sizeof(value));
  }
}

class HostMemory {
 public:
  explicit HostMemory(const Data& data) : HostMemory(data.bytes) { fill_with(data.seed, get(), bytes_); }
  explicit HostMemory(const Array& array) : HostMemory(array.bytes) {
    std::memset(get(), kUntouched, bytes_);
  }

  std::uint8_t* get() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  // As much as any device asks for of the memory of buffers.
  static constexpr std::align_val_t kAlignment{4096};
  struct Free {
    void operator()(std::uint8_t* memory) const { ::operator delete[](memory, kAlignment); }
  };
  explicit HostMemory(std::size_t bytes) : bytes_(bytes), memory_(new (kAlignment) std::uint8_t[bytes]) {}
  std::size_t bytes_;
  std::unique_ptr<std::uint8_t[], Free> memory_;
};

}  // namespace fairgv::moves
