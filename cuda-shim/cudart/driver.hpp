// The driver beneath: every function of libcuda.so.1 that the runtime library uses, found once per process.
//
// libcuda.so.1 is whichever one the dynamic linker finds: NVIDIA's, FairGV's, or the software one. It is
// opened at the first runtime call that needs it, and each function is asked of cuGetProcAddress by name and
// by the version whose signature we call (CUDA Driver API, "Driver Entry Point Access"). There is no
// link-time dependency, and nothing undocumented is used.
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

// A function of the driver. One that this driver does not have answers like a function of a newer driver.
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
#define FGV_DRIVER_FUNCTION(name, since) DriverFunction<PFN_##name##_v##since> name;
#include "cuda-shim/cudart/driver_functions.def"
#undef FGV_DRIVER_FUNCTION
};

// The driver, loaded at the first call. `error` is cudaErrorInsufficientDriver where there is no libcuda.so.1
// or one that is too old to be asked for functions by version; else what cuInit answered. The tables are
// complete when it is cudaSuccess, and stay as they are until the process ends.
struct LoadedDriver {
  cudaError_t error = cudaErrorInsufficientDriver;
  Driver tables[2];  // by DefaultStream
  PFN_cuGetProcAddress_v12000 get_proc_address = nullptr;
};
const LoadedDriver& loaded_driver();

// True once the process runs its exit handlers: whatever was set up before the driver was loaded is torn down
// after it, and must not call into it any more.
bool process_is_exiting();

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_DRIVER_HPP
