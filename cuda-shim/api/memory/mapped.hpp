// Addresses for kernels, and registered memory of devices that cannot use the program's own
// (CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM): there the engine makes the kernels of a
// context memory of their own when the program first asks for its address, and keeps both the same.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda-shim/api/driver.hpp"

namespace fairgv::cuda {

/// The device's address, in a context, of the byte at `address` in an allocation. CUDA_ERROR_NOT_SUPPORTED:
/// the memory is registered, and not mapped.
CUresult device_address(const Driver& driver, const Context& context, const Allocation& allocation,
                        std::uint64_t address, CUdeviceptr& on_device);
/// The same; maps registered memory that is not mapped yet.
CUresult map_address(Driver& driver, Context& context, const Allocation& allocation, std::uint64_t address,
                     CUdeviceptr& on_device);

/// Where a mapped range is in the program's memory; the address itself in any other allocation.
inline std::uint64_t program_address(const Allocation& allocation, std::uint64_t address) {
  if (allocation.kind != MemoryKind::mapped) return address;
  return allocation.program_begin + (address - allocation.begin);
}

/// Nothing writes into the memory but the program.
inline bool is_read_only(const Allocation& allocation) {
  return (allocation.kind == MemoryKind::registered || allocation.kind == MemoryKind::mapped) &&
         (allocation.flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0;
}

}  // namespace fairgv::cuda
