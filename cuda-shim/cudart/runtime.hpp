// The frame of every entry point of the runtime library: the thread's error, the driver, and the context.
//
// An entry point is written with FAIRGV_CALL or FAIRGV_STREAM_CALL. Its body gets the driver's functions and
// returns a Status, which both CUresult and cudaError_t become. A result other than cudaSuccess is also the
// thread's last error (CUDA Runtime API, "Error Handling"). No exception leaves an entry point.
//
// A thread uses its current context, no matter how that became current, or else the primary context of its
// device, which is retained at first use (CUDA Runtime API, "Interactions with the CUDA Driver API").
#ifndef FAIRGV_CUDA_SHIM_CUDART_RUNTIME_HPP
#define FAIRGV_CUDA_SHIM_CUDART_RUNTIME_HPP

#include <bit>
#include <cstdint>
#include <new>
#include <type_traits>

#include "cuda-shim/cudart/driver.hpp"

namespace fairgv::cudart {

// The runtime's code for a driver's code. Where both APIs have the code, the numbers are the same.
cudaError_t runtime_error(CUresult result);

class Status {
 public:
  Status(cudaError_t error) : error_(error) {}  // NOLINT: implicit
  Status(CUresult result) : error_(result == CUDA_SUCCESS ? cudaSuccess : runtime_error(result)) {}  // NOLINT
  cudaError_t error() const { return error_; }
  bool failed() const { return error_ != cudaSuccess; }

 private:
  cudaError_t error_;
};

#define FAIRGV_RETURN_IF_FAILED(expression)                                                               \
  do {                                                                                                    \
    if (const ::fairgv::cudart::Status fgv_status = (expression); fgv_status.failed()) return fgv_status; \
  } while (false)

// One value on its way from a runtime signature to the driver's: handles, enumerations and structures of the
// two APIs have the same representation, and layouts.cpp asserts where that is not by definition.
template <class From>
struct Passed {
  From value;
  template <class To>
  operator To() const {  // NOLINT: implicit
    if constexpr (sizeof(To) == sizeof(From)) {
      return std::bit_cast<To>(value);
    } else {
      return static_cast<To>(value);
    }
  }
};

template <class Function, class... Arguments>
CUresult pass(const Function& function, Arguments... arguments) {
  return function(Passed<Arguments>{arguments}...);
}

struct ThreadState {
  cudaError_t last_error = cudaSuccess;
  int device = 0;                // cudaSetDevice
  CUcontext bound = nullptr;     // the primary context that bind_context made current here, if any
  std::uint32_t generation = 0;  // of that device's primary context, see context.cpp
};
inline constinit thread_local ThreadState thread_state;

enum class Needs {
  kDriver,   // the driver, initialised
  kContext,  // and a context current in this thread
};

// Makes sure that a context is current in this thread.
Status bind_context(const Driver& driver);
// The device that the thread's calls mean: of the current context, else of cudaSetDevice.
Status current_device(const Driver& driver, int& device);

inline cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) [[unlikely]]
    thread_state.last_error = error;
  return error;
}

template <Needs kNeeds, DefaultStream kStream, class Body>
cudaError_t enter(const Body& body) noexcept {
  const LoadedDriver& loaded = loaded_driver();
  if (loaded.error != cudaSuccess) return note(loaded.error);
  if (process_is_exiting()) return note(cudaErrorCudartUnloading);
  const Driver& driver = loaded.tables[static_cast<int>(kStream)];
  try {
    if constexpr (kNeeds == Needs::kContext) {
      if (const Status bound = bind_context(driver); bound.failed()) return note(bound.error());
    }
    return note(body(driver).error());
  } catch (const std::bad_alloc&) {
    return note(cudaErrorMemoryAllocation);
  } catch (...) {
    return note(cudaErrorUnknown);
  }
}

}  // namespace fairgv::cudart

// An entry point: FAIRGV_CALL(kContext, cudaFree, (void* memory), (memory)) { ... } defines cudaFree; its
// body sees `driver`. FAIRGV_STREAM_CALL also defines the variant for the per-thread default stream:
// cudaMemcpy and cudaMemcpy_ptds.
#define FAIRGV_WITH_DRIVER(...) ([[maybe_unused]] const Driver& driver __VA_OPT__(, ) __VA_ARGS__)
#define FAIRGV_PASS_DRIVER(...) (driver __VA_OPT__(, ) __VA_ARGS__)
#define FAIRGV_ENTRY(needs, stream, entry, body, parameters, arguments)                     \
  FAIRGV_EXPORT cudaError_t entry parameters {                                              \
    return enter<Needs::needs, DefaultStream::stream>(                                      \
        [&](const Driver& driver) -> Status { return body FAIRGV_PASS_DRIVER arguments; }); \
  }
#define FAIRGV_CALL(needs, name, parameters, arguments)                  \
  static Status name##_body FAIRGV_WITH_DRIVER parameters;               \
  FAIRGV_ENTRY(needs, kLegacy, name, name##_body, parameters, arguments) \
  static Status name##_body FAIRGV_WITH_DRIVER parameters
#define FAIRGV_STREAM_CALL(needs, name, suffix, parameters, arguments)              \
  static Status name##_body FAIRGV_WITH_DRIVER parameters;                          \
  FAIRGV_ENTRY(needs, kLegacy, name, name##_body, parameters, arguments)            \
  FAIRGV_ENTRY(needs, kPerThread, name##suffix, name##_body, parameters, arguments) \
  static Status name##_body FAIRGV_WITH_DRIVER parameters

#endif  // FAIRGV_CUDA_SHIM_CUDART_RUNTIME_HPP
