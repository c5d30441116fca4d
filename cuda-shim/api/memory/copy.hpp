// Copies and fills: their descriptions, and how they run in a stream. Every kind of copy of the API becomes
// one box of bytes (CUDA Driver API, "Memory Management", "API synchronization behavior").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {

/// The kind of a copy's side in the rules of synchronisation.
enum class Side { pageable, pinned, device };

struct Extent {
  std::size_t width = 0;  // bytes
  std::size_t height = 1;
  std::size_t depth = 1;
};

/// One side, checked: where its first byte is, and how far rows and slices are apart.
struct Place {
  std::uint64_t address = 0;  // of the device or, unless `side` says device, of the host; not of an array
  std::size_t pitch = 0;
  std::size_t slice = 0;
  Side side = Side::pageable;
  std::shared_ptr<Allocation> allocation;  // around it; null: pageable memory, or an array
  std::shared_ptr<Array> array;            // kept while the copy may run
  std::size_t x = 0, y = 0, z = 0;         // where in the array, in bytes, rows and slices

  std::byte* host() const { return reinterpret_cast<std::byte*>(address); }
};

/// Copies between memories that this process can touch.
void move_bytes(const Place& to, const Place& from, const Extent& extent);
/// Bytes of a box, packed.
constexpr std::size_t bytes_of(const Extent& extent) {
  return extent.width * extent.height * extent.depth;
}
constexpr bool is_empty(const Extent& extent) {
  return extent.width == 0 || extent.height == 0 || extent.depth == 0;
}
/// Bytes from the first of a box to behind the last. Nothing: the number overflows.
std::optional<std::size_t> span_of(const Extent& extent, std::size_t pitch, std::size_t slice);

/// A linear range of device memory. CUDA_ERROR_INVALID_VALUE: it is not within one allocation.
CUresult device_place(const Driver& driver, CUdeviceptr address, std::size_t size, Place& place);
/// A linear range of host memory, or of the memory that the address turns out to be in.
CUresult host_place(const Driver& driver, const void* pointer, std::size_t size, Place& place);
CUresult any_place(const Driver& driver, CUdeviceptr address, std::size_t size, Place& place);
/// CUDA_ERROR_INVALID_VALUE: a copy may not write there.
CUresult check_target(const Driver& driver, const Place& to, const Extent& extent);
/// Bytes [offset, offset + size) of a one-row array.
CUresult array_place(Driver& driver, CUarray array, std::size_t offset, std::size_t size, Place& place);

/// One side of a CUDA_MEMCPY3D (2D: depth 1). Offsets are in bytes, rows and slices.
struct PitchedSide {
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  const void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  std::size_t pitch = 0, height = 0;
  std::size_t x = 0, y = 0, z = 0;
};
CUresult pitched_place(Driver& driver, const PitchedSide& side, const Extent& extent, Place& place);

/// `count` elements of `element` bytes per row. CUDA_ERROR_INVALID_VALUE: range or alignment.
struct Fill {
  CUdeviceptr address = 0;
  std::size_t pitch = 0;  // bytes; of no meaning for one row
  std::uint32_t value = 0;
  std::size_t element = 1;  // bytes: 1, 2, 4
  std::size_t count = 0;
  std::size_t rows = 1;
};
CUresult check_fill(const Driver& driver, const Fill& fill);
/// The same, and the memory of a fill; null: the fill is empty.
CUresult find_filled(const Driver& driver, const Fill& fill, std::shared_ptr<Allocation>& allocation);
/// Checks the fill, and queues it unless it is empty.
CUresult fill(Driver& driver, const std::shared_ptr<Stream>& stream, const Fill& fill);

}  // namespace fairgv::cuda
