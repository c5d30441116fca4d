// Symbols (CUDA Runtime API, "Memory Management", "Driver Entry Point Access" and "Interactions with the CUDA
// Driver API").
#include "cuda-shim/cudart/modules/symbol.hpp"

#include "cuda-shim/cudart/launch.hpp"
#include "cuda-shim/cudart/modules/registry.hpp"

namespace fairgv::cudart {

Status symbol_address(const Driver& driver, const void* symbol, void*& address, std::size_t& size) {
  RegisteredVariable* const variable = Registry::instance().variable(symbol);
  if (variable == nullptr) return cudaErrorInvalidSymbol;
  return variable->owner->variable(driver, *variable, address, size);
}

Status symbol_range(const Driver& driver, const void* symbol, std::size_t count, std::size_t offset,
                    void*& memory) {
  std::size_t size = 0;
  FAIRGV_RETURN_IF_FAILED(symbol_address(driver, symbol, memory, size));
  if (offset > size || count > size - offset) return cudaErrorInvalidValue;
  memory = static_cast<char*>(memory) + offset;
  return cudaSuccess;
}

FAIRGV_CALL(kContext, cudaGetSymbolAddress, (void** address, const void* symbol), (address, symbol)) {
  if (address == nullptr) return cudaErrorInvalidValue;
  std::size_t size = 0;
  return symbol_address(driver, symbol, *address, size);
}

FAIRGV_CALL(kContext, cudaGetSymbolSize, (std::size_t * size, const void* symbol), (size, symbol)) {
  if (size == nullptr) return cudaErrorInvalidValue;
  void* address = nullptr;
  return symbol_address(driver, symbol, address, *size);
}

FAIRGV_CALL(kContext, cudaGetFuncBySymbol, (cudaFunction_t * function, const void* symbol),
            (function, symbol)) {
  if (function == nullptr) return cudaErrorInvalidValue;
  return find_function(driver, symbol, *function);
}

FAIRGV_CALL(kContext, cudaGetKernel, (cudaKernel_t * kernel, const void* stub), (kernel, stub)) {
  if (kernel == nullptr) return cudaErrorInvalidValue;
  FAIRGV_RETURN_IF_FAILED(find_kernel(driver, stub, *kernel));
  Registry::instance().add_handle(*kernel);
  return cudaSuccess;
}

namespace {

Status driver_entry_point(const Driver& driver, const char* symbol, void** function, unsigned int version,
                          unsigned long long flags, cudaDriverEntryPointQueryResult* outcome) {
  if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
  // cudaEnableDefault means the default stream that the caller was compiled for; the other flags have the
  // driver's values.
  cuuint64_t stream = flags;
  if (flags == cudaEnableDefault && driver.default_stream == DefaultStream::kPerThread)
    stream = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  CUdriverProcAddressQueryResult found{};
  *function = nullptr;
  const CUresult result =
      loaded_driver().get_proc_address(symbol, function, static_cast<int>(version), stream, &found);
  // The older form of the look-up reports by its result only.
  if (result == CUDA_ERROR_NOT_FOUND && found == CU_GET_PROC_ADDRESS_SUCCESS)
    found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (outcome != nullptr) *outcome = static_cast<cudaDriverEntryPointQueryResult>(found);
  // A missing function is no error if the caller asked for the outcome.
  if (result == CUDA_ERROR_NOT_FOUND && outcome != nullptr) return cudaSuccess;
  return result;
}

}  // namespace

FAIRGV_STREAM_CALL(kDriver, cudaGetDriverEntryPoint, _ptsz,
                   (const char* symbol, void** function, unsigned long long flags,
                    cudaDriverEntryPointQueryResult* outcome),
                   (symbol, function, flags, outcome)) {
  return driver_entry_point(driver, symbol, function, kRuntimeVersion, flags, outcome);
}

FAIRGV_STREAM_CALL(kDriver, cudaGetDriverEntryPointByVersion, _ptsz,
                   (const char* symbol, void** function, unsigned int version, unsigned long long flags,
                    cudaDriverEntryPointQueryResult* outcome),
                   (symbol, function, version, flags, outcome)) {
  return driver_entry_point(driver, symbol, function, version, flags, outcome);
}

}  // namespace fairgv::cudart
