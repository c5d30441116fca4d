// Checks and books of memory that several files of entry points share.
#pragma once

#include "cuda-shim/api/driver.hpp"

namespace fairgv::cuda {

/// For advice and prefetches: CUDA_ERROR_INVALID_VALUE unless the range lies in one managed allocation.
CUresult check_managed_range(Driver& driver, CUdeviceptr address, std::size_t size,
                             const CUmemLocation& location);

/// A program's call frees an allocation: nobody else may then.
enum class Freeing { refused, kept_by_graph, removes };
Freeing begin_free(Allocation& allocation);

/// Memory of a pool goes back into its books; other memory has none.
void discharge_pool(Driver& driver, const Allocation& allocation);

}  // namespace fairgv::cuda
