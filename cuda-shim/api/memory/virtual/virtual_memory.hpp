// Virtual memory management (CUDA Driver API, "Virtual Memory Management"): ranges of addresses, physical
// memory, and what is mapped where.
//
//   range     ├────────────────────────────────────────┤   addresses alone
//   mappings      ├─────────┤├─────────┤   ├─────────┤     each is an Allocation of the memory table
//   physical      └ A       ┘└ B       ┘   └ A       ┘     lives while it has a handle or a mapping
//
// The calls need no context, and what they make belongs to none. Any thread may call.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/memory/memory_table.hpp"
#include "cuda-shim/api/memory/virtual/address_space.hpp"

namespace fairgv::cuda {

class VirtualMemory {
 public:
  /// Both outlive it. `space`: null: the engine has none, and nothing is served.
  VirtualMemory(AddressSpace* space, MemoryTable& memory) : space_(space), memory_(memory) {}

  CUresult granularity(CUdevice device, CUmemAllocationGranularity_flags which, std::size_t& bytes);

  CUresult reserve(const RangeWish& wish, CUdeviceptr& address);
  CUresult free(CUdeviceptr address, std::size_t size);

  /// `properties`: checked, of a device that is there. `most`: bytes that the device may give in sum.
  CUresult create(const CUmemAllocationProp& properties, std::size_t size, std::uint64_t most,
                  CUmemGenericAllocationHandle& handle);
  CUresult release(CUmemGenericAllocationHandle handle);
  /// Another use of the handle of what is mapped there.
  CUresult retain(CUdeviceptr address, CUmemGenericAllocationHandle& handle);
  CUresult properties(CUmemGenericAllocationHandle handle, CUmemAllocationProp& properties);

  CUresult map(CUdeviceptr address, std::size_t size, CUmemGenericAllocationHandle handle);
  /// No command uses the mappings any more.
  CUresult unmap(CUdeviceptr address, std::size_t size);
  /// `wishes`: of devices that are there, with known flags.
  CUresult set_access(CUdeviceptr address, std::size_t size, std::span<const CUmemAccessDesc> wishes);
  CUresult access(CUdeviceptr address, CUdevice device, CUmemAccess_flags& flags);

 private:
  struct Physical;
  struct Mapping {
    std::shared_ptr<Physical> physical;
    std::shared_ptr<Allocation> entry;
  };
  using Mappings = std::map<std::uint64_t, Mapping>;

  /// The mappings that fill [address, address + size) without a gap, none of them in part: from the first to
  /// behind the last. Both the same: there are none.
  std::pair<Mappings::iterator, Mappings::iterator> whole(std::uint64_t address, std::uint64_t size);
  /// The mapping that holds the address, or the end.
  Mappings::iterator mapping_at(std::uint64_t address);
  bool is_free(std::uint64_t address, std::uint64_t size);
  bool is_granular(CUdevice device, std::uint64_t address, std::uint64_t size);

  AddressSpace* const space_;
  MemoryTable& memory_;
  std::mutex lock_;  // guards the members below, and is held while the engine works
  std::map<std::uint64_t, std::uint64_t> ranges_;  // sizes by address
  Mappings mappings_;
  /// Those that have a handle. Handles are never used again.
  std::unordered_map<CUmemGenericAllocationHandle, std::shared_ptr<Physical>> handles_;
  CUmemGenericAllocationHandle next_handle_ = 1;
};

}  // namespace fairgv::cuda
