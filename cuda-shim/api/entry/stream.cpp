// Entry points: streams and events, made and ended (CUDA Driver API, "Stream Management", "Event
// Management"). Their commands are in stream/stream.cpp.
#include <algorithm>
#include <limits>

#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {
namespace {

/// The lowest priority.
constexpr int kNoPriority = std::numeric_limits<int>::max();

CUresult create_stream(CUstream* handle, unsigned flags, int priority) noexcept {
  return in_context([=](Driver& driver, Context& context) {
    if (handle == nullptr || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    const StreamGroup& group = *context.group();
    const StreamKind kind =
        (flags & CU_STREAM_NON_BLOCKING) != 0 ? StreamKind::independent : StreamKind::blocking;
    const int level = std::clamp(priority, group.greatest_priority(), group.least_priority());
    auto stream = driver.scheduler.make_stream(context.group(), kind, flags, level);
    *handle = reinterpret_cast<CUstream>(driver.streams.add(std::move(stream)));
    return CUDA_SUCCESS;
  });
}

CUresult elapsed(const Driver& driver, float* milliseconds, CUevent start_handle, CUevent end_handle) {
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto start = driver.events.find(start_handle);
  const auto end = driver.events.find(end_handle);
  if (!start || !end || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0)
    return CUDA_ERROR_INVALID_HANDLE;
  if (start->is_captured() || end->is_captured()) return CUDA_ERROR_CAPTURED_EVENT;
  const auto first = start->recorded();
  const auto last = end->recorded();
  if (!first || !last) return CUDA_ERROR_INVALID_HANDLE;
  if (!first->done() || !last->done()) return CUDA_ERROR_NOT_READY;
  *milliseconds =
      std::chrono::duration<float, std::milli>(last->finished_at() - first->finished_at()).count();
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuStreamCreate(CUstream* stream, unsigned int flags) {
  return create_stream(stream, flags, kNoPriority);
}

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return create_stream(stream, flags, priority);
}

CUresult CUDAAPI cuStreamDestroy(CUstream handle) {
  return in_any_context([=](Driver& driver, Context&) {
    const auto stream = driver.streams.take(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    driver.captures.forget(*stream);
    driver.scheduler.forget(stream);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return initialized([=](Driver&) {
    if (mode == nullptr || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::swap(thread_capture_mode(), *mode);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventCreate(CUevent* handle, unsigned int flags) {
  return in_context([=](Driver& driver, Context& context) {
    constexpr unsigned kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (handle == nullptr || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
    auto event = std::make_shared<Event>(context.handle(), flags);
    if ((flags & CU_EVENT_INTERPROCESS) != 0) {
      if ((flags & CU_EVENT_DISABLE_TIMING) == 0) return CUDA_ERROR_INVALID_VALUE;
      const CUresult code = driver.shared_events.make(context.handle(), flags, event);
      if (code != CUDA_SUCCESS) return code;
    }
    *handle = reinterpret_cast<CUevent>(driver.events.add(std::move(event)));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventDestroy(CUevent handle) {
  return in_any_context([=](Driver& driver, Context&) {
    return driver.events.take(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult CUDAAPI cuEventQuery(CUevent handle) {
  return in_context([=](Driver& driver, Context&) {
    const auto event = driver.events.find(handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult code = driver.captures.refuse(*event); code != CUDA_SUCCESS) return code;
    if (is_recorded_elsewhere(*event))
      return has_ended_elsewhere(*event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    const auto marker = event->recorded();
    if (!marker) return CUDA_SUCCESS;
    return marker->done() ? marker->result() : CUDA_ERROR_NOT_READY;
  });
}

CUresult CUDAAPI cuEventSynchronize(CUevent handle) {
  return in_context([=](Driver& driver, Context&) {
    const auto event = driver.events.find(handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult code = driver.captures.refuse(*event); code != CUDA_SUCCESS) return code;
    if (is_recorded_elsewhere(*event)) {
      wait_elsewhere(*event);
      return CUDA_SUCCESS;
    }
    const auto marker = event->recorded();
    if (!marker) return CUDA_SUCCESS;
    marker->wait();
    driver.scheduler.count_call();
    return marker->result();
  });
}

CUresult CUDAAPI cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return in_context([=](Driver& driver, Context&) { return elapsed(driver, milliseconds, start, end); });
}

}  // extern "C"
}  // namespace fairgv::cuda
