// Virtual memory management of the soft device: its addresses are the process's own. Ranges are pages without
// access; physical memory is shared pages, which are mapped anew wherever the program wants them.
#pragma once

#include "cuda-shim/api/memory/virtual/address_space.hpp"

namespace fairgv::cuda::soft {

class HostAddressSpace final : public AddressSpace {
 public:
  CUresult granularity(CUdevice device, CUmemAllocationGranularity_flags which,
                       std::uint64_t& bytes) override;
  CUresult reserve(const RangeWish& wish, std::uint64_t& address) override;
  CUresult give_back(std::uint64_t address, std::uint64_t size) override;
  CUresult make_physical(CUdevice device, std::uint64_t size, std::unique_ptr<Storage>& memory) override;
  CUresult map(std::uint64_t address, std::uint64_t size, const Storage& memory) override;
  CUresult unmap(std::uint64_t address, std::uint64_t size) override;
  CUresult set_access(std::uint64_t address, std::uint64_t size, CUdevice device,
                      CUmemAccess_flags flags) override;
};

}  // namespace fairgv::cuda::soft
