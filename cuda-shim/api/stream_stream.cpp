// Entry points: a stream's order and state, events recorded in it (CUDA Driver API, "Stream Management",
// "Event Management"). Compiled twice: stream_entry.hpp.
#include "objects.hpp"
#include "stream_entry.hpp"

namespace fairgv::cuda {
namespace {

CUresult record(CUevent handle, CUstream stream_handle) noexcept {
  return on_stream(stream_handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    const auto event = driver.events.find(handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    if (event->owner != stream->group()->owner()) return CUDA_ERROR_INVALID_HANDLE;
    event->record(driver.scheduler.mark(stream));
    return CUDA_SUCCESS;
  });
}

/// No stream is ever captured.
CUresult no_capture(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id) noexcept {
  return on_stream(handle, [=](Driver&, Context&, const std::shared_ptr<Stream>&) {
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (id != nullptr) *id = 0;
    return CUDA_SUCCESS;
  });
}

template <typename Value, typename Read>
CUresult tell(CUstream handle, Value* value, const Read& read) noexcept {
  return on_stream(handle, [&](Driver&, Context&, const std::shared_ptr<Stream>& stream) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *value = read(*stream);
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuStreamSynchronize(CUstream handle) {
  return on_stream(handle, [](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    return driver.scheduler.synchronize(stream);
  });
}

CUresult CUDAAPI cuStreamQuery(CUstream handle) {
  return on_stream(handle, [](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    return driver.scheduler.query(stream);
  });
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int flags) {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if ((flags & ~unsigned{CU_EVENT_WAIT_EXTERNAL}) != 0) return CUDA_ERROR_INVALID_VALUE;
    const auto event = driver.events.find(event_handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    // An event that was never recorded holds nothing up.
    const auto marker = event->recorded();
    if (marker && !marker->done()) driver.scheduler.mark(stream, marker);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream) {
  return record(event, stream);
}

CUresult CUDAAPI cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  return (flags & ~unsigned{CU_EVENT_RECORD_EXTERNAL}) != 0 ? CUDA_ERROR_INVALID_VALUE
                                                            : record(event, stream);
}

CUresult CUDAAPI cuStreamGetFlags(CUstream handle, unsigned int* flags) {
  return tell(handle, flags, [](const Stream& stream) { return stream.flags(); });
}

CUresult CUDAAPI cuStreamGetPriority(CUstream handle, int* priority) {
  return tell(handle, priority, [](const Stream& stream) { return stream.priority(); });
}

CUresult CUDAAPI cuStreamGetId(CUstream handle, unsigned long long* id) {
  return tell(handle, id, [](const Stream& stream) { return stream.id(); });
}

CUresult CUDAAPI cuStreamGetDevice(CUstream handle, CUdevice* device) {
  return on_stream(handle, [=](Driver&, Context& context, const std::shared_ptr<Stream>&) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = context.device();
    return CUDA_SUCCESS;
  });
}

// The newest one tells a green context too, of which there are none.
CUresult CUDAAPI cuStreamGetCtx(CUstream handle, CUcontext* context) {
  return tell(handle, context, [](const Stream& stream) { return stream.group()->owner(); });
}

CUresult CUDAAPI cuStreamGetCtx_v2(CUstream handle, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;
  return tell(handle, context, [](const Stream& stream) { return stream.group()->owner(); });
}

CUresult CUDAAPI cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return on_stream(handle, [=](Driver&, Context&, const std::shared_ptr<Stream>& stream) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *value = {};
    switch (attribute) {
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        value->syncPolicy = CU_SYNC_POLICY_AUTO;
        return CUDA_SUCCESS;
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        value->priority = stream->priority();
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
  });
}

CUresult CUDAAPI cuStreamSetAttribute(CUstream handle, CUstreamAttrID attribute,
                                      const CUstreamAttrValue* value) {
  return on_stream(handle, [=](Driver&, Context&, const std::shared_ptr<Stream>&) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // How a thread waits is a wish.
    return attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
  });
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return no_capture(handle, status, nullptr);
}

CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                        CUgraph* graph, const CUgraphNode** nodes,
                                        const CUgraphEdgeData** edges, std::size_t* count) {
  if (graph != nullptr) *graph = nullptr;
  if (nodes != nullptr) *nodes = nullptr;
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = 0;
  return no_capture(handle, status, id);
}

}  // extern "C"
}  // namespace fairgv::cuda
