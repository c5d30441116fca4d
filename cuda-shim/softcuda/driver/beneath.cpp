// Functions that only this driver has, for FairGV's worker: they tell the OpenCL device beneath, so that
// programs of both APIs share one device's turns, and when launches have ended and have code; and they put
// memory where another process's driver had it, so that a program can go on over this one.
#include <memory>
#include <utility>

#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/softcuda/driver/code/module.hpp"
#include "cuda-shim/softcuda/driver/device/address_window.hpp"
#include "cuda-shim/softcuda/driver/engine.hpp"
#include "cuda-shim/softcuda/driver/launch/held_launch.hpp"

namespace fairgv::cuda::soft {

namespace {

Engine& engine_of(Driver& driver) {
  return static_cast<Engine&>(driver.engine);
}

}  // namespace

extern "C" {

/// The cl_device_id as this process' OpenCL loader names it; null: there is no such device. After cuInit.
[[gnu::visibility("default")]] void* cuFairgvOpenclDevice(CUdevice device) noexcept {
  void* beneath = nullptr;
  initialized([&](Driver& driver) {
    if (device == 0) beneath = engine_of(driver).opencl->device();
    return CUDA_SUCCESS;
  });
  return beneath;
}

/// As cuStreamAddCallback, but the function is called by the thread that ends the last command before it, or
/// by the calling thread. It must be short, and call no CUDA function. Saves a switch of threads for each
/// awaited end.
[[gnu::visibility("default")]] CUresult cuFairgvAddPromptCallback(CUstream handle, CUstreamCallback callback,
                                                                  void* data) noexcept {
  return in_any_context([&](Driver& driver, Context& context) {
    const auto stream = find_stream(driver, context, handle, false);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    engine_of(driver).operations.submit_prompt(own(stream),
                                               [=](CUresult fault) { callback(handle, fault, data); });
    return CUDA_SUCCESS;
  });
}

/// Makes the next launch of this thread stop when its machine code is made. `reached` is called then, or when
/// the launch has ended before that point. `*launch` is for cuFairgvLetLaunchGo(), which must be called once,
/// also for a refused launch. CUDA_ERROR_NOT_SUPPORTED: launches cannot be stopped on the device's driver.
[[gnu::visibility("default")]] CUresult cuFairgvHoldNextLaunch(void (*reached)(void* data), void* data,
                                                               void** launch) noexcept {
  return initialized([&](Driver& driver) {
    static const bool holds =
        opencl::gate_holds(engine_of(driver).opencl->context(), engine_of(driver).opencl->device());
    if (!holds) return CUDA_ERROR_NOT_SUPPORTED;
    auto held = std::make_shared<HeldLaunch>(reached, data);
    HeldLaunch::hold_next(held);
    *launch = new std::shared_ptr<HeldLaunch>(std::move(held));
    return CUDA_SUCCESS;
  });
}

[[gnu::visibility("default")]] void cuFairgvLetLaunchGo(void* launch) noexcept {
  const std::unique_ptr<std::shared_ptr<HeldLaunch>> held(static_cast<std::shared_ptr<HeldLaunch>*>(launch));
  HeldLaunch::hold_next(nullptr);  // in case the launch was refused
  (*held)->let_go();
}

/// Makes the next memory whose address programs know, and that a call of this thread makes, lie at `address`:
/// linear memory, the variables of a module, a texture or surface object (whose handle is then that address),
/// a context's heap. If it cannot lie there, the call fails. 0: the thread has no wish any more.
[[gnu::visibility("default")]] void cuFairgvPlaceNext(CUdeviceptr address) noexcept {
  AddressWindow::place_next(address);
}

/// The memory of all variables of a module, also of those that the program cannot ask for; no bytes: it has
/// none.
[[gnu::visibility("default")]] CUresult cuFairgvModuleMemory(CUmodule handle, CUdeviceptr* address,
                                                             std::size_t* bytes) noexcept {
  return in_any_context([&](Driver& driver, Context&) {
    const auto module = driver.modules.find(handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    *address = static_cast<Module&>(*module).data_address();
    *bytes = static_cast<Module&>(*module).image().translated().data.size();
    return CUDA_SUCCESS;
  });
}

/// The memory of the current context's heap, from which kernels allocate; no bytes: it has none yet. `make`:
/// it has one then, which is empty and as large as the limit says. The address is the host's, too.
[[gnu::visibility("default")]] CUresult cuFairgvHeap(int make, CUdeviceptr* address,
                                                     std::size_t* bytes) noexcept {
  return in_any_context([&](Driver& driver, Context& context) {
    ContextResources& resources = static_cast<StreamGroup&>(*context.group()).resources();
    if (make != 0 && resources.heap(*engine_of(driver).opencl) == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    const auto heap = resources.heap_memory();
    *address = heap.address;
    *bytes = heap.bytes;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda::soft
