// Launches (CUDA Runtime API, "Execution Control").
#include "cuda-shim/cudart/launch.hpp"

#include <limits>

#include "cuda-shim/cudart/modules/registry.hpp"

namespace fairgv::cudart {
namespace {

// The configuration that <<<...>>> pushes and the stub pops. The arguments of a launch are evaluated in
// between and may launch kernels themselves, so several can be open at a time.
struct OpenLaunch {
  dim3 grid;
  dim3 block;
  std::size_t shared;
  cudaStream_t stream;
};
constexpr int kMaxOpenLaunches = 16;
constinit thread_local OpenLaunch open_launches[kMaxOpenLaunches] = {};
constinit thread_local int open_launch_count = 0;

struct Launch {
  dim3 grid;
  dim3 block;
  void** arguments;
  std::size_t shared;
  cudaStream_t stream;
};

// The driver says only that a value is invalid; the runtime distinguishes shapes that the device does not
// support.
bool fits_device(const Driver& driver, const Launch& launch) {
  int device = 0;
  if (current_device(driver, device).failed()) return true;
  const auto within = [&](CUdevice_attribute limit, std::uint64_t value) {
    int most = 0;
    if (driver.cuDeviceGetAttribute(&most, limit, device) != CUDA_SUCCESS) return true;
    return value >= 1 && value <= static_cast<std::uint64_t>(most);
  };
  const dim3& block = launch.block;
  return within(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, launch.grid.x) &&
         within(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, launch.grid.y) &&
         within(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, launch.grid.z) &&
         within(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, block.x) &&
         within(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, block.y) &&
         within(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, block.z) &&
         within(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, std::uint64_t{block.x} * block.y * block.z);
}

Status refine(const Driver& driver, const Launch& launch, CUresult result) {
  if (result == CUDA_ERROR_INVALID_VALUE && !fits_device(driver, launch))
    return cudaErrorInvalidConfiguration;
  return result;
}

Status launch_kernel(const Driver& driver, CUkernel kernel, const Launch& launch) {
  if (launch.shared > std::numeric_limits<unsigned int>::max()) return cudaErrorInvalidValue;
  const CUresult result = driver.cuLaunchKernel(
      as_function(kernel), launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
      launch.block.z, static_cast<unsigned int>(launch.shared), launch.stream, launch.arguments, nullptr);
  if (result == CUDA_SUCCESS) [[likely]]
    return cudaSuccess;
  return refine(driver, launch, result);
}

Status launch_registered(const Driver& driver, RegisteredKernel* registered, const Launch& launch) {
  if (registered == nullptr) return cudaErrorInvalidDeviceFunction;
  CUkernel kernel = nullptr;
  FAIRGV_RETURN_IF_FAILED(registered->owner->kernel(driver, *registered, kernel));
  return launch_kernel(driver, kernel, launch);
}

}  // namespace

Status find_kernel(const Driver& driver, const void* function, CUkernel& kernel) {
  Registry& registry = Registry::instance();
  if (RegisteredKernel* const registered = registry.kernel(function); registered != nullptr) [[likely]]
    return registered->owner->kernel(driver, *registered, kernel);
  if (!registry.is_handle(function)) return cudaErrorInvalidDeviceFunction;
  kernel = std::bit_cast<CUkernel>(function);
  return cudaSuccess;
}

Status find_function(const Driver& driver, const void* function, CUfunction& found) {
  CUkernel kernel = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_kernel(driver, function, kernel));
  return driver.cuKernelGetFunction(&found, kernel);
}

Status describe_launch(const cudaLaunchConfig_t& config, CUlaunchConfig& described) {
  if (config.dynamicSmemBytes > std::numeric_limits<unsigned int>::max()) return cudaErrorInvalidValue;
  described = {};
  described.gridDimX = config.gridDim.x;
  described.gridDimY = config.gridDim.y;
  described.gridDimZ = config.gridDim.z;
  described.blockDimX = config.blockDim.x;
  described.blockDimY = config.blockDim.y;
  described.blockDimZ = config.blockDim.z;
  described.sharedMemBytes = static_cast<unsigned int>(config.dynamicSmemBytes);
  described.hStream = config.stream;
  described.attrs = std::bit_cast<CUlaunchAttribute*>(config.attrs);  // the same layout, see layouts.cpp
  described.numAttrs = config.numAttrs;
  return cudaSuccess;
}

FAIRGV_STREAM_CALL(kContext, cudaLaunchKernel, _ptsz,
                   (const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                    cudaStream_t stream),
                   (function, grid, block, arguments, shared, stream)) {
  CUkernel kernel = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_kernel(driver, function, kernel));
  return launch_kernel(driver, kernel, {grid, block, arguments, shared, stream});
}

// All blocks must run at once: the driver checks this, and no layer in between may cut such a launch.
FAIRGV_STREAM_CALL(kContext, cudaLaunchCooperativeKernel, _ptsz,
                   (const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                    cudaStream_t stream),
                   (function, grid, block, arguments, shared, stream)) {
  CUkernel kernel = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_kernel(driver, function, kernel));
  if (shared > std::numeric_limits<unsigned int>::max()) return cudaErrorInvalidValue;
  const CUresult result =
      driver.cuLaunchCooperativeKernel(as_function(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                       static_cast<unsigned int>(shared), stream, arguments);
  return refine(driver, {grid, block, arguments, shared, stream}, result);
}

FAIRGV_STREAM_CALL(kContext, cudaLaunchKernelExC, _ptsz,
                   (const cudaLaunchConfig_t* config, const void* function, void** arguments),
                   (config, function, arguments)) {
  if (config == nullptr) return cudaErrorInvalidValue;
  CUkernel kernel = nullptr;
  FAIRGV_RETURN_IF_FAILED(find_kernel(driver, function, kernel));
  CUlaunchConfig described;
  FAIRGV_RETURN_IF_FAILED(describe_launch(*config, described));
  const CUresult result = driver.cuLaunchKernelEx(&described, as_function(kernel), arguments, nullptr);
  return refine(driver,
                {config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream},
                result);
}

// The stub of a kernel asks for its handle once, keeps it, and launches with it whether or not that
// succeeded. So the handle is our own record, known without a driver, and everything that can fail fails at
// the launch, with its reason.
FAIRGV_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* stub) {
  RegisteredKernel* const registered = Registry::instance().kernel(stub);
  if (handle == nullptr || registered == nullptr) return note(cudaErrorInvalidDeviceFunction);
  *handle = std::bit_cast<cudaKernel_t>(registered);
  return cudaSuccess;
}

#define FAIRGV_LAUNCH_BY_STUB(name, stream_kind)                                               \
  FAIRGV_EXPORT cudaError_t name(cudaKernel_t handle, dim3 grid, dim3 block, void** arguments, \
                                 std::size_t shared, cudaStream_t stream) {                    \
    return enter<Needs::kContext, DefaultStream::stream_kind>([&](const Driver& driver) {      \
      return launch_registered(driver, std::bit_cast<RegisteredKernel*>(handle),               \
                               {grid, block, arguments, shared, stream});                      \
    });                                                                                        \
  }
FAIRGV_LAUNCH_BY_STUB(__cudaLaunchKernel, kLegacy)
FAIRGV_LAUNCH_BY_STUB(__cudaLaunchKernel_ptsz, kPerThread)
#undef FAIRGV_LAUNCH_BY_STUB

// A result other than zero makes the program skip the launch.
FAIRGV_EXPORT unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                                       CUstream_st* stream) {
  if (open_launch_count == kMaxOpenLaunches) {
    (void)note(cudaErrorLaunchMaxDepthExceeded);
    return 1;
  }
  open_launches[open_launch_count++] = {grid, block, shared, stream};
  return 0;
}

FAIRGV_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared,
                                                     void* stream) {
  if (open_launch_count == 0) return note(cudaErrorMissingConfiguration);
  const OpenLaunch& launch = open_launches[--open_launch_count];
  *grid = launch.grid;
  *block = launch.block;
  *shared = launch.shared;
  *static_cast<cudaStream_t*>(stream) = launch.stream;
  return cudaSuccess;
}

}  // namespace fairgv::cudart
