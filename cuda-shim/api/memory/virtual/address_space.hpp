// The engine's part of virtual memory management: addresses, physical memory, and mappings of the one at the
// other. The books (virtual_memory.hpp) check every call before it comes here.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/memory/storage.hpp"

namespace fairgv::cuda {

struct RangeWish {
  std::uint64_t size = 0;       // bytes
  std::uint64_t alignment = 0;  // a power of two, or 0: as the engine likes
  std::uint64_t address = 0;    // a hint; 0: none
};

/// One thread at a time calls; physical memory may be destroyed by any thread.
class AddressSpace {
 public:
  AddressSpace() = default;
  virtual ~AddressSpace() = default;
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  /// Sizes and addresses of mappings of the device's memory are multiples of it.
  virtual CUresult granularity(CUdevice device, CUmemAllocationGranularity_flags which,
                               std::uint64_t& bytes) = 0;

  virtual CUresult reserve(const RangeWish& wish, std::uint64_t& address) = 0;
  /// A whole range, in which nothing is mapped.
  virtual CUresult give_back(std::uint64_t address, std::uint64_t size) = 0;

  virtual CUresult make_physical(CUdevice device, std::uint64_t size, std::unique_ptr<Storage>& memory) = 0;
  /// The first `size` bytes of the memory, without access.
  virtual CUresult map(std::uint64_t address, std::uint64_t size, const Storage& memory) = 0;
  /// Whole mappings, which adjoin each other. No command uses them any more.
  virtual CUresult unmap(std::uint64_t address, std::uint64_t size) = 0;
  /// Of the device that has the memory, to whole mappings.
  virtual CUresult set_access(std::uint64_t address, std::uint64_t size, CUdevice device,
                              CUmemAccess_flags flags) = 0;
};

}  // namespace fairgv::cuda
