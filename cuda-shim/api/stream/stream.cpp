// Entry points: a stream's order and state, events recorded in it (CUDA Driver API, "Stream Management",
// "Event Management"). Compiled twice: stream_entry.hpp.
#include "cuda-shim/api/command.hpp"
#include "cuda-shim/api/stream/stream_entry.hpp"

namespace fairgv::cuda {
namespace {

CUresult record(CUevent handle, CUstream stream_handle, bool external) noexcept {
  return on_stream(stream_handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    auto event = driver.events.find(handle);
    return event ? put(driver, stream, RecordCommand{std::move(event), external}) : CUDA_ERROR_INVALID_HANDLE;
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
  return on_uncaptured_stream(handle, [](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    const CUresult code = driver.scheduler.synchronize(stream);
    driver.scheduler.count_call();
    return code;
  });
}

CUresult CUDAAPI cuStreamQuery(CUstream handle) {
  return on_uncaptured_stream(handle, [](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    return driver.scheduler.query(stream);
  });
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int flags) {
  return on_stream(handle, [=](Driver& driver, Context&, const std::shared_ptr<Stream>& stream) {
    if ((flags & ~unsigned{CU_EVENT_WAIT_EXTERNAL}) != 0) return CUDA_ERROR_INVALID_VALUE;
    auto event = driver.events.find(event_handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    return put(driver, stream, WaitCommand{std::move(event), (flags & CU_EVENT_WAIT_EXTERNAL) != 0});
  });
}

CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream) {
  return record(event, stream, false);
}

CUresult CUDAAPI cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  if ((flags & ~unsigned{CU_EVENT_RECORD_EXTERNAL}) != 0) return CUDA_ERROR_INVALID_VALUE;
  return record(event, stream, (flags & CU_EVENT_RECORD_EXTERNAL) != 0);
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

// The newest version also returns a green context; there are none.
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

// Only a hint can be set, so there is nothing to copy.
CUresult CUDAAPI cuStreamCopyAttributes(CUstream to, CUstream from) {
  return on_stream(to, [from](Driver& driver, Context& context, const std::shared_ptr<Stream>&) {
    return find_stream(driver, context, from, kPerThreadDefault) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult CUDAAPI cuStreamSetAttribute(CUstream handle, CUstreamAttrID attribute,
                                      const CUstreamAttrValue* value) {
  return on_stream(handle, [=](Driver&, Context&, const std::shared_ptr<Stream>&) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // How a thread waits is only a hint.
    return attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
