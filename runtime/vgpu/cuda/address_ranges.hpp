// A session's ranges of addresses, its physical memory, and what is mapped where. The driver checks the
// addresses; these books say how long memory is charged: until it is released and nowhere mapped.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "runtime/vgpu/cuda/driver.hpp"
#include "runtime/vgpu/memory/memory_account.hpp"

namespace fairgv::vgpu::cuda {

/// The loop thread's. Codes are the driver's, or CUDA_ERROR_OUT_OF_MEMORY beyond the limit of what a session
/// may have.
class AddressRanges {
 public:
  AddressRanges(const Functions& driver, std::size_t limit) : driver_(driver), limit_(limit) {}

  /// Whether the driver has all functions that this needs.
  bool is_served() const { return has_virtual_memory(driver_); }

  CUresult reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted,
                   std::uint64_t& address);
  CUresult free(std::uint64_t address, std::uint64_t bytes);

  /// `charge`: of these bytes. `number`: names the memory from now on.
  CUresult create(const Device& device, std::uint64_t bytes, MemoryCharge charge, std::uint64_t& number);
  /// False: the number names nothing.
  bool release(std::uint64_t number) { return physical_.erase(number) != 0; }
  bool contains(std::uint64_t number) const { return physical_.contains(number); }
  /// The number that the next physical memory will have.
  std::uint64_t next_number() const { return next_number_; }
  void begin_at(std::uint64_t number) { next_number_ = number; }

  /// The number names memory.
  CUresult map(std::uint64_t number, std::uint64_t address, std::uint64_t bytes);
  CUresult unmap(std::uint64_t address, std::uint64_t bytes);
  CUresult set_access(std::uint64_t address, std::uint64_t bytes, const Device& device, std::uint32_t flags);

  struct Physical {
    Physical(const Functions& of_driver, CUmemGenericAllocationHandle made, MemoryCharge of_memory)
        : driver(of_driver), handle(made), charge(std::move(of_memory)) {}
    ~Physical() { driver.cuMemRelease(handle); }  // then the charge ends
    Physical(const Physical&) = delete;
    Physical& operator=(const Physical&) = delete;

    const Functions& driver;
    const CUmemGenericAllocationHandle handle;
    MemoryCharge charge;
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    wire::DeviceIndex device = 0;
  };
  struct Mapping {
    std::shared_ptr<Physical> memory;
    std::uint64_t bytes = 0;
    std::map<wire::DeviceIndex, std::uint32_t> access;  // flags
  };
  /// Bytes of the ranges, by their begins.
  const std::map<std::uint64_t, std::uint64_t>& ranges() const { return ranges_; }
  /// By address.
  const std::map<std::uint64_t, Mapping>& mappings() const { return mapped_; }
  /// All physical memory by its number, released and still mapped or not.
  std::map<std::uint64_t, std::shared_ptr<Physical>> all_physical() const;
  bool is_empty() const { return ranges_.empty() && physical_.empty(); }

 private:
  bool is_full() const { return physical_.size() + mapped_.size() + ranges_.size() >= limit_; }

  const Functions& driver_;
  const std::size_t limit_;
  std::map<std::uint64_t, std::uint64_t> ranges_;                          // bytes by begin
  std::unordered_map<std::uint64_t, std::shared_ptr<Physical>> physical_;  // by number
  std::map<std::uint64_t, Mapping> mapped_;                                // by address
  std::uint64_t next_number_ = 1;
};

/// As cuMemCreate takes them.
CUmemAllocationProp properties_of(const Device& device);

}  // namespace fairgv::vgpu::cuda
