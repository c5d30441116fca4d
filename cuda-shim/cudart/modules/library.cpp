// Libraries (CUDA Runtime API, "Library Management"): code that the program loads itself.
#include <vector>

#include "cuda-shim/cudart/modules/registry.hpp"

namespace fairgv::cudart {
namespace {

// The options of the runtime's just-in-time compiler by the driver's names; the values are passed on as they
// are.
Status driver_option(cudaJitOption option, CUjit_option& named) {
  switch (option) {
    case cudaJitMaxRegisters:
      named = CU_JIT_MAX_REGISTERS;
      return cudaSuccess;
    case cudaJitThreadsPerBlock:
      named = CU_JIT_THREADS_PER_BLOCK;
      return cudaSuccess;
    case cudaJitWallTime:
      named = CU_JIT_WALL_TIME;
      return cudaSuccess;
    case cudaJitInfoLogBuffer:
      named = CU_JIT_INFO_LOG_BUFFER;
      return cudaSuccess;
    case cudaJitInfoLogBufferSizeBytes:
      named = CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES;
      return cudaSuccess;
    case cudaJitErrorLogBuffer:
      named = CU_JIT_ERROR_LOG_BUFFER;
      return cudaSuccess;
    case cudaJitErrorLogBufferSizeBytes:
      named = CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
      return cudaSuccess;
    case cudaJitOptimizationLevel:
      named = CU_JIT_OPTIMIZATION_LEVEL;
      return cudaSuccess;
    case cudaJitFallbackStrategy:
      named = CU_JIT_FALLBACK_STRATEGY;
      return cudaSuccess;
    case cudaJitGenerateDebugInfo:
      named = CU_JIT_GENERATE_DEBUG_INFO;
      return cudaSuccess;
    case cudaJitLogVerbose:
      named = CU_JIT_LOG_VERBOSE;
      return cudaSuccess;
    case cudaJitGenerateLineInfo:
      named = CU_JIT_GENERATE_LINE_INFO;
      return cudaSuccess;
    case cudaJitCacheMode:
      named = CU_JIT_CACHE_MODE;
      return cudaSuccess;
    case cudaJitPositionIndependentCode:
      named = CU_JIT_POSITION_INDEPENDENT_CODE;
      return cudaSuccess;
    case cudaJitMinCtaPerSm:
      named = CU_JIT_MIN_CTA_PER_SM;
      return cudaSuccess;
    case cudaJitMaxThreadsPerBlock:
      named = CU_JIT_MAX_THREADS_PER_BLOCK;
      return cudaSuccess;
    case cudaJitOverrideDirectiveValues:
      named = CU_JIT_OVERRIDE_DIRECTIVE_VALUES;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

Status driver_options(const cudaJitOption* options, unsigned int count, std::vector<CUjit_option>& named) {
  if (options == nullptr && count > 0) return cudaErrorInvalidValue;
  named.resize(count);
  for (unsigned int i = 0; i < count; ++i) FAIRGV_RETURN_IF_FAILED(driver_option(options[i], named[i]));
  return cudaSuccess;
}

}  // namespace

FAIRGV_CALL(kContext, cudaLibraryLoadData,
            (cudaLibrary_t * library, const void* code, cudaJitOption* jit_options, void** jit_values,
             unsigned int jit_count, cudaLibraryOption* options, void** values, unsigned int count),
            (library, code, jit_options, jit_values, jit_count, options, values, count)) {
  std::vector<CUjit_option> named;
  FAIRGV_RETURN_IF_FAILED(driver_options(jit_options, jit_count, named));
  return pass(driver.cuLibraryLoadData, library, code, named.data(), jit_values, jit_count, options, values,
              count);
}

FAIRGV_CALL(kContext, cudaLibraryLoadFromFile,
            (cudaLibrary_t * library, const char* file, cudaJitOption* jit_options, void** jit_values,
             unsigned int jit_count, cudaLibraryOption* options, void** values, unsigned int count),
            (library, file, jit_options, jit_values, jit_count, options, values, count)) {
  std::vector<CUjit_option> named;
  FAIRGV_RETURN_IF_FAILED(driver_options(jit_options, jit_count, named));
  return pass(driver.cuLibraryLoadFromFile, library, file, named.data(), jit_values, jit_count, options,
              values, count);
}

FAIRGV_CALL(kContext, cudaLibraryGetKernel, (cudaKernel_t * kernel, cudaLibrary_t library, const char* name),
            (kernel, library, name)) {
  FAIRGV_RETURN_IF_FAILED(pass(driver.cuLibraryGetKernel, kernel, library, name));
  Registry::instance().add_handle(*kernel);
  return cudaSuccess;
}

FAIRGV_CALL(kContext, cudaLibraryEnumerateKernels,
            (cudaKernel_t * kernels, unsigned int count, cudaLibrary_t library), (kernels, count, library)) {
  if (kernels == nullptr) return cudaErrorInvalidValue;
  std::vector<cudaKernel_t> found(count, nullptr);
  FAIRGV_RETURN_IF_FAILED(pass(driver.cuLibraryEnumerateKernels, found.data(), count, library));
  for (unsigned int i = 0; i < count; ++i) {
    kernels[i] = found[i];
    if (found[i] != nullptr) Registry::instance().add_handle(found[i]);
  }
  return cudaSuccess;
}

FAIRGV_CALL(kContext, cudaLibraryGetGlobal,
            (void** address, std::size_t* size, cudaLibrary_t library, const char* name),
            (address, size, library, name)) {
  return pass(driver.cuLibraryGetGlobal, address, size, library, name);
}

FAIRGV_CALL(kContext, cudaLibraryGetManaged,
            (void** address, std::size_t* size, cudaLibrary_t library, const char* name),
            (address, size, library, name)) {
  return pass(driver.cuLibraryGetManaged, address, size, library, name);
}

FAIRGV_CALL(kContext, cudaLibraryGetUnifiedFunction,
            (void** function, cudaLibrary_t library, const char* symbol), (function, library, symbol)) {
  return driver.cuLibraryGetUnifiedFunction(function, library, symbol);
}

}  // namespace fairgv::cudart
