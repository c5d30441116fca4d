// Streams and events (CUDA Runtime API, "Stream Management" and "Event Management"): the calls that are more
// than a pass-through.
#include <memory>

#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {
namespace {

// A callback's own function and argument, on their way through the driver.
struct Callback {
  cudaStreamCallback_t function;
  void* argument;
};

void CUDA_CB call_back(CUstream stream, CUresult result, void* data) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
  callback->function(stream, Status(result).error(), callback->argument);
}

}  // namespace

FAIRGV_CALL(kContext, cudaStreamCreate, (cudaStream_t * stream), (stream)) {
  if (stream == nullptr) return cudaErrorInvalidValue;
  return driver.cuStreamCreate(stream, CU_STREAM_DEFAULT);
}

FAIRGV_CALL(kContext, cudaEventCreate, (cudaEvent_t * event), (event)) {
  if (event == nullptr) return cudaErrorInvalidValue;
  return driver.cuEventCreate(event, CU_EVENT_DEFAULT);
}

FAIRGV_STREAM_CALL(kContext, cudaStreamAddCallback, _ptsz,
                   (cudaStream_t stream, cudaStreamCallback_t function, void* argument, unsigned int flags),
                   (stream, function, argument, flags)) {
  if (function == nullptr) return cudaErrorInvalidValue;
  auto callback = std::make_unique<Callback>(Callback{function, argument});
  const CUresult result = driver.cuStreamAddCallback(stream, call_back, callback.get(), flags);
  // The driver owns the callback once it has accepted it.
  if (result == CUDA_SUCCESS) (void)callback.release();
  return result;
}

}  // namespace fairgv::cudart
