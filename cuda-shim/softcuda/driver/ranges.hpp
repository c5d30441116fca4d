// Checks and books of memory that several files of entry points share.
#pragma once

#include "driver.hpp"

namespace fairgv::softcuda {

/// For advice and prefetches: CUDA_ERROR_INVALID_VALUE unless it is one range of managed memory.
CUresult check_managed_range(Driver& driver, CUdeviceptr address, std::size_t size,
                             const CUmemLocation& location);

/// Memory of a pool goes back into its books; other memory has none.
void discharge_pool(Driver& driver, const Allocation& allocation);

}  // namespace fairgv::softcuda
