// Virtual memory management by the worker: its driver has the addresses and the memory. Every range is also
// kept free in this process (reservation.hpp).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cuda-shim/api/memory/virtual/address_space.hpp"
#include "cuda-shim/driver/memory/reservation.hpp"

namespace fairgv::cuda::remote {

class Engine;

class WorkerAddressSpace final : public AddressSpace {
 public:
  /// `ordinals`: the devices' places among those that the worker has for this program. Both outlive this.
  WorkerAddressSpace(Engine& engine, const std::vector<std::uint32_t>& ordinals)
      : engine_(engine), ordinals_(ordinals) {}

  CUresult granularity(CUdevice device, CUmemAllocationGranularity_flags which,
                       std::uint64_t& bytes) override;
  CUresult reserve(const RangeWish& wish, std::uint64_t& address) override;
  CUresult give_back(std::uint64_t address, std::uint64_t size) override;
  CUresult make_physical(CUdevice device, std::uint64_t size, std::unique_ptr<Storage>& memory) override;
  CUresult map(std::uint64_t address, std::uint64_t size, const Storage& memory) override;
  CUresult unmap(std::uint64_t address, std::uint64_t size) override;
  CUresult set_access(std::uint64_t address, std::uint64_t size, CUdevice device,
                      CUmemAccess_flags flags) override;

 private:
  /// Sends a call whose reply is a code.
  template <class Call>
  CUresult ask(const Call& call);

  std::uint32_t workers_ordinal(CUdevice device) const { return ordinals_[static_cast<std::size_t>(device)]; }

  Engine& engine_;
  const std::vector<std::uint32_t>& ordinals_;
  std::unordered_map<std::uint64_t, Reservation> reserved_;       // by address
  std::unordered_map<std::uint64_t, std::uint64_t> granularity_;  // by device and flag: it never changes
};

}  // namespace fairgv::cuda::remote
