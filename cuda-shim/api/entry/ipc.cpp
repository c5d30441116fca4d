// Entry points: memory and events that processes share (CUDA Driver API, "Memory Management": cuIpc*).
#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/api/memory/sharing.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {

extern "C" {

// An address inside of the memory names all of it: what is opened begins where the memory begins.
CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return in_context([=](Driver& driver, Context&) {
    const auto allocation = driver.memory.find(address);
    if (handle == nullptr || !allocation || allocation->kind != MemoryKind::device)
      return CUDA_ERROR_INVALID_VALUE;
    return driver.engine.memory_sharing().export_memory(*allocation, *handle);
  });
}

CUresult CUDAAPI cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned int flags) {
  return in_context([&](Driver& driver, Context& context) {
    if (address == nullptr || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return CUDA_ERROR_INVALID_VALUE;
    return driver.opened_memory.open(driver, context, handle, *address);
  });
}

CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr address) {
  return in_any_context(
      [=](Driver& driver, Context&) { return driver.opened_memory.close(driver, address); });
}

CUresult CUDAAPI cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event_handle) {
  return in_context([=](Driver& driver, Context&) {
    const auto event = driver.events.find(event_handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    return handle == nullptr ? CUDA_ERROR_INVALID_VALUE : driver.shared_events.export_event(*event, *handle);
  });
}

CUresult CUDAAPI cuIpcOpenEventHandle(CUevent* event_handle, CUipcEventHandle handle) {
  return in_context([&](Driver& driver, Context& context) {
    if (event_handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<Event> event;
    const CUresult code = driver.shared_events.open(context.handle(), handle, event);
    if (code == CUDA_SUCCESS) *event_handle = reinterpret_cast<CUevent>(driver.events.add(std::move(event)));
    return code;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
