// An engine's part in sharing memory among processes (CUDA Driver API, "Memory Management": cuIpc*).
#pragma once

#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

class Context;
struct Allocation;

/// Any thread may call.
class MemorySharing {
 public:
  MemorySharing() = default;
  virtual ~MemorySharing() = default;
  MemorySharing(const MemorySharing&) = delete;
  MemorySharing& operator=(const MemorySharing&) = delete;

  /// A handle by which other processes of the user can open memory of the kind `device`. Freeing the memory
  /// ends that; borrowers keep it.
  virtual CUresult export_memory(const Allocation& allocation, CUipcMemHandle& handle) = 0;
  /// Fills in the begin, here and on the device, the size and the storage of memory that another process has
  /// exported. The handle may be any bytes. CUDA_ERROR_INVALID_CONTEXT: it is this process' own.
  virtual CUresult open_exported(Context& context, const CUipcMemHandle& handle, Allocation& opened) = 0;
};

}  // namespace fairgv::cuda
