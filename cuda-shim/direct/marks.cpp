#include "cuda-shim/direct/marks.hpp"

#include <algorithm>

#include "cuda-shim/direct/driver.hpp"

namespace fairgv::cuda::direct {

std::mutex& captures_begin() {
  static constinit std::mutex lock;
  return lock;
}

InContext::InContext(CUcontext context) {
  pushed_ = FAIRGV_DRIVER(cuCtxPushCurrent_v2)(context) == CUDA_SUCCESS;
  if (pushed_) FAIRGV_DRIVER(cuThreadExchangeStreamCaptureMode)(&mode_);
}

InContext::~InContext() {
  if (!pushed_) return;
  FAIRGV_DRIVER(cuThreadExchangeStreamCaptureMode)(&mode_);
  CUcontext popped = nullptr;
  FAIRGV_DRIVER(cuCtxPopCurrent_v2)(&popped);
}

Mark MarkPool::put(const StreamUse& use) {
  const InContext in(use.context);
  if (!in.ok()) return {};
  const std::lock_guard none_begins(captures_begin());
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult told = FAIRGV_DRIVER(cuStreamIsCapturing)(use.stream, &capture);
  // An event in a captured stream would become part of the program's graph.
  if (told != CUDA_SUCCESS || capture != CU_STREAM_CAPTURE_STATUS_NONE) return {};
  Mark mark{use.context, nullptr};
  const auto kept = std::ranges::find(free_, use.context, &Mark::context);
  if (kept != free_.end()) {
    mark = *kept;
    free_.erase(kept);
  } else if (FAIRGV_DRIVER(cuEventCreate)(&mark.event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    return {};
  }
  if (FAIRGV_DRIVER(cuEventRecord)(mark.event, use.stream) == CUDA_SUCCESS) return mark;
  take_back(mark);
  return {};
}

void MarkPool::put_again(const Mark& mark, CUstream stream) {
  const InContext in(mark.context);
  if (in.ok()) FAIRGV_DRIVER(cuEventRecord)(mark.event, stream);
}

bool MarkPool::has_passed(const Mark& mark) {
  const InContext in(mark.context);
  return !in.ok() || FAIRGV_DRIVER(cuEventQuery)(mark.event) != CUDA_ERROR_NOT_READY;
}

void MarkPool::forget(CUcontext context) {
  std::erase_if(free_, [context](const Mark& mark) { return mark.context == context; });
}

}  // namespace fairgv::cuda::direct
