// A part of a file in this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/result.hpp"

namespace fairgv::vgpu {

/// A part of a file in memory, whose pages are there before anybody writes to them: what a memory file has no
/// room for would end the process. Ends with the object.
class MappedPart {
 public:
  static Result<MappedPart> map(int file, std::uint64_t offset, std::uint64_t bytes);
  MappedPart() = default;
  MappedPart(MappedPart&& other) noexcept { *this = std::move(other); }
  MappedPart& operator=(MappedPart&& other) noexcept;
  MappedPart(const MappedPart&) = delete;
  MappedPart& operator=(const MappedPart&) = delete;
  ~MappedPart();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  void* start_ = nullptr;
  std::size_t length_ = 0;
  std::span<std::byte> bytes_;
};

}  // namespace fairgv::vgpu
