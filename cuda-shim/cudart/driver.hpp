// The driver beneath: every function of libcuda.so.1 that the runtime library uses, found once per process.
//
// The dynamic linker decides which libcuda.so.1 is used: NVIDIA's, FairGV's, or the software driver's. It is
// opened at the first runtime call that needs it. cuGetProcAddress gives each function by name and by the
// version whose signature we call (CUDA Driver API, "Driver Entry Point Access"). There is no link-time
// dependency, and nothing undocumented is used.
//
// Two tables exist: one whose stream functions mean the legacy default stream by a null stream, and one whose
// functions mean the per-thread default stream (CU_GET_PROC_ADDRESS_*_STREAM). Any thread may use both.
#ifndef FAIRGV_CUDA_SHIM_CUDART_DRIVER_HPP
#define FAIRGV_CUDA_SHIM_CUDART_DRIVER_HPP

#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

#include "cuda-shim/cudart/abi/types.hpp"

namespace fairgv::cudart {

// A function of the driver. A function that this driver lacks answers like a function of a newer driver.
template <class Function>
class DriverFunction;

template <class... Arguments>
class DriverFunction<CUresult (*)(Arguments...)> {
 public:
  CUresult operator()(Arguments... arguments) const {
    return function_ != nullptr ? function_(arguments...) : CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER;
  }
  explicit operator bool() const { return function_ != nullptr; }
  // Only for the loader.
  void set(void* address) { function_ = reinterpret_cast<CUresult (*)(Arguments...)>(address); }

 private:
  CUresult (*function_)(Arguments...) = nullptr;
};

struct Driver {
  int version = 0;  // cuDriverGetVersion
  DefaultStream default_stream = DefaultStream::kLegacy;
#define FAIRGV_DRIVER_FUNCTION(name, since) DriverFunction<PFN_##name##_v##since> name;
#include "cuda-shim/cudart/driver_functions.def"
#undef FAIRGV_DRIVER_FUNCTION
};

// The driver, loaded at the first call. `error` is cudaErrorInsufficientDriver if there is no libcuda.so.1,
// or if it is too old to look up functions by version; else the result of cuInit. If it is cudaSuccess, the
// tables are complete, and stay unchanged until the process ends.
struct LoadedDriver {
  cudaError_t error = cudaErrorInsufficientDriver;
  Driver tables[2];  // by DefaultStream
  PFN_cuGetProcAddress_v12000 get_proc_address = nullptr;
};
const LoadedDriver& loaded_driver();

// True once the process runs its exit handlers. Objects that were set up before the driver was loaded are
// torn down after it, and must not call into it any more.
bool process_is_exiting();

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_DRIVER_HPP
