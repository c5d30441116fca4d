// Error handling (CUDA Runtime API, "Error Handling"): the thread's last error, names and descriptions.
#include <algorithm>
#include <iterator>

#include "cuda-shim/cudart/abi/refused.hpp"
#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {
namespace {

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrors[] = {
#define FAIRGV_ERROR(code, text) {code, #code, text},
#include "cuda-shim/cudart/errors.def"
#undef FAIRGV_ERROR
};
static_assert(std::is_sorted(std::begin(kErrors), std::end(kErrors),
                             [](const ErrorText& a, const ErrorText& b) { return a.code < b.code; }));
constexpr ErrorText kUnknownCode = {-1, "unrecognized error code", "unrecognized error code"};

const ErrorText& text_of(int code) {
  const auto* const found =
      std::lower_bound(std::begin(kErrors), std::end(kErrors), code,
                       [](const ErrorText& entry, int value) { return entry.code < value; });
  return found != std::end(kErrors) && found->code == code ? *found : kUnknownCode;
}

// After these errors the context cannot be used any more, and every further call in it fails in the same way.
// Asking for the last error does not clear them.
constexpr bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
      return true;
    default:
      return false;
  }
}

}  // namespace

cudaError_t runtime_error(CUresult result) {
  const auto same = static_cast<cudaError_t>(result);
  // Codes that only the driver has: making a context current twice, a key that changed.
  return &text_of(same) != &kUnknownCode ? same : cudaErrorUnknown;
}

int refuse() noexcept {
  return enter<Needs::kDriver, DefaultStream::kLegacy>(
      [](const Driver&) { return Status(cudaErrorNotSupported); });
}

// Without a driver every call fails alike, these two included, so a program that calls only these learns of
// it.
FAIRGV_EXPORT cudaError_t cudaGetLastError() {
  if (const cudaError_t error = loaded_driver().error; error != cudaSuccess) return error;
  const cudaError_t error = thread_state.last_error;
  if (!is_sticky(error)) thread_state.last_error = cudaSuccess;
  return error;
}

FAIRGV_EXPORT cudaError_t cudaPeekAtLastError() {
  const cudaError_t error = loaded_driver().error;
  return error != cudaSuccess ? error : thread_state.last_error;
}

FAIRGV_EXPORT const char* cudaGetErrorName(cudaError_t error) {
  return text_of(error).name;
}

FAIRGV_EXPORT const char* cudaGetErrorString(cudaError_t error) {
  return text_of(error).text;
}

}  // namespace fairgv::cudart
