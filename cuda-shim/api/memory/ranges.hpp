// Checks and books of memory that several files of entry points share.
#pragma once

#include "cuda-shim/api/driver.hpp"

namespace fairgv::cuda {

/// For advice and prefetches: CUDA_ERROR_INVALID_VALUE unless it is one range of managed memory.
CUresult check_managed_range(Driver& driver, CUdeviceptr address, std::size_t size,
                             const CUmemLocation& location);

/// The engine's: frees memory of the device when what is in the stream by now has ended, and takes it out of
/// the table and its pool's books then or before.
void free_in_order(Driver& driver, const std::shared_ptr<Stream>& stream,
                   const std::shared_ptr<Allocation>& allocation);

/// Memory of a pool goes back into its books; other memory has none.
void discharge_pool(Driver& driver, const Allocation& allocation);

}  // namespace fairgv::cuda
