// The first steps of every entry point. No exception leaves an entry point, and a call in the wrong state
// returns its documented code.
#pragma once

#include <new>
#include <utility>

#include "cuda-shim/api/context.hpp"
#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/driver.hpp"

namespace fairgv::cuda {

/// For calls that may come before cuInit.
template <typename Body>
CUresult any_time(const Body& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

/// For calls that need no context: body(driver).
template <typename Body>
CUresult initialized(const Body& body) noexcept {
  return any_time([&body] {
    if (const CUresult state = Driver::state(); state != CUDA_SUCCESS) return state;
    if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
    return static_cast<CUresult>(body(Driver::get()));
  });
}

/// The context on top of the calling thread's stack. Null: there is none, and `code` says so. Always inlined:
/// every call on a context runs it, and a function call would add a tenth to the cheapest of them.
[[gnu::always_inline]] inline std::shared_ptr<Context> current_context(CUresult& code) {
  const auto& stack = context_stack();
  if (stack.empty() || !stack.back()) {
    code = CUDA_ERROR_INVALID_CONTEXT;
    return nullptr;
  }
  code = stack.back()->ended() ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
  return code == CUDA_SUCCESS ? stack.back() : nullptr;
}

/// The context of a handle, or the current one where the handle is null.
inline std::shared_ptr<Context> named_or_current(Driver& driver, CUcontext handle, CUresult& code) {
  if (handle == nullptr) return current_context(code);
  auto context = driver.contexts.find(handle);
  code = context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  return context;
}

/// For calls on the current context: body(driver, context). If the context has a sticky fault, the fault is
/// returned instead.
template <typename Body>
CUresult in_context(const Body& body) noexcept {
  return initialized([&body](Driver& driver) {
    CUresult code = CUDA_SUCCESS;
    const auto context = current_context(code);
    if (!context) return code;
    if (const CUresult fault = context->group()->fault(); fault != CUDA_SUCCESS) return fault;
    return static_cast<CUresult>(body(driver, *context));
  });
}

/// The same for calls that free: they work in a faulty context too.
template <typename Body>
CUresult in_any_context(const Body& body) noexcept {
  return initialized([&body](Driver& driver) {
    CUresult code = CUDA_SUCCESS;
    const auto context = current_context(code);
    if (!context) return code;
    return static_cast<CUresult>(body(driver, *context));
  });
}

/// For calls on an object whose documentation knows no invalid handle: a null handle is an invalid value
/// there (cuFuncGetName: "if either name or hfunc is NULL"), checked after the context. `call` does the rest.
template <typename Handle, typename Call>
CUresult unless_null(Handle handle, const Call& call) noexcept {
  if (handle != nullptr) return call();
  return in_context([](Driver&, Context&) { return CUDA_ERROR_INVALID_VALUE; });
}

/// The stream of a handle: 0 is the calling program's default stream. Null: no such stream.
inline std::shared_ptr<Stream> find_stream(Driver& driver, Context& context, CUstream handle,
                                           bool per_thread) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  constexpr std::uintptr_t kLegacy = 1;     // CU_STREAM_LEGACY
  constexpr std::uintptr_t kPerThread = 2;  // CU_STREAM_PER_THREAD
  if (number == kLegacy || (number == 0 && !per_thread)) return context.legacy_stream();
  if (number == kPerThread || number == 0) return context.thread_stream();
  return driver.streams.find(handle);
}

/// The body of a call about a device, which is given the driver. CUDA_ERROR_INVALID_DEVICE: there is no such
/// device.
template <typename Body>
CUresult on_device(CUdevice device, const Body& body) noexcept {
  return initialized([&](Driver& driver) {
    return driver.has_device(device) ? static_cast<CUresult>(body(driver)) : CUDA_ERROR_INVALID_DEVICE;
  });
}

}  // namespace fairgv::cuda
