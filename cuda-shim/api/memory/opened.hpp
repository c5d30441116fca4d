// Memory of other processes that this one has opened (CUDA Driver API, "Memory Management": cuIpc*).
//
// A handle that a context opens again is the same memory at the same address: it is closed when it has been
// closed as often. It is not freed, and its bytes are in nobody's books here: its maker pays.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

class Context;
class Driver;
struct Allocation;

/// Any thread may call.
class OpenedMemory {
 public:
  CUresult open(Driver& driver, Context& context, const CUipcMemHandle& handle, CUdeviceptr& address);
  /// CUDA_ERROR_INVALID_VALUE: no opened memory begins there.
  CUresult close(Driver& driver, CUdeviceptr address);

 private:
  struct Opened {
    CUipcMemHandle handle;
    std::weak_ptr<Allocation> allocation;  // the table's; gone with its context
    std::size_t times = 1;
  };

  std::mutex lock_;  // guards opened_; held while the engine opens, so that two threads open a handle once
  std::vector<Opened> opened_;
};

}  // namespace fairgv::cuda
