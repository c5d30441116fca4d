// Entry points: contexts (CUDA Driver API, "Primary Context Management", "Context Management").
#include "cuda-shim/api/code/module.hpp"
#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {
namespace {

constexpr unsigned kScheduling = CU_CTX_SCHED_MASK;

bool valid_flags(unsigned flags) {
  const unsigned scheduling = flags & kScheduling;
  return (flags & ~unsigned{CU_CTX_FLAGS_MASK}) == 0 &&
         (scheduling == CU_CTX_SCHED_AUTO || scheduling == CU_CTX_SCHED_SPIN ||
          scheduling == CU_CTX_SCHED_YIELD || scheduling == CU_CTX_SCHED_BLOCKING_SYNC);
}

template <typename Body>
CUresult on_primary(CUdevice device, const Body& body) noexcept {
  return initialized([&](Driver& driver) {
    return driver.has_device(device) ? static_cast<CUresult>(body(driver)) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult synchronize_streams(Driver& driver, Context& context) {
  if (driver.captures.any()) {
    if (const CUresult code = driver.captures.refuse(*context.group()); code != CUDA_SUCCESS) return code;
  }
  const CUresult code = driver.scheduler.synchronize(*context.group());
  driver.scheduler.count_call();
  return code;
}

CUresult create(Driver& driver, CUcontext* handle, unsigned flags, CUdevice device) {
  if (handle == nullptr || !valid_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
  if (!driver.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::shared_ptr<Context> context;
  if (const CUresult code = driver.make_context(device, flags, false, context); code != CUDA_SUCCESS)
    return code;
  *handle = context->handle();
  context_stack().push_back(std::move(context));
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return on_primary(device, [=](Driver& driver) {
    return context == nullptr ? CUDA_ERROR_INVALID_VALUE : driver.retain_primary(device, *context);
  });
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device) {
  return on_primary(device, [=](Driver& driver) { return driver.release_primary(device); });
}

CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice device) {
  return on_primary(device, [=](Driver& driver) { return driver.reset_primary(device); });
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
  return on_primary(device, [=](Driver& driver) {
    return valid_flags(flags) ? driver.set_primary_flags(device, flags) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  return on_primary(device, [=](Driver& driver) {
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    bool is_active = false;
    driver.primary_state(device, *flags, is_active);
    *active = is_active ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxCreate(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags,
                             CUdevice device) {
  return initialized([=](Driver& driver) {
    if (parameters != nullptr && parameters->numExecAffinityParams != 0)
      return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    if (parameters != nullptr && parameters->cigParams != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    return create(driver, context, flags, device);
  });
}

CUresult CUDAAPI cuCtxDestroy(CUcontext handle) {
  return initialized([=](Driver& driver) {
    const auto context = driver.contexts.find(handle);
    if (!context || context->primary()) return CUDA_ERROR_INVALID_CONTEXT;
    if (!driver.end_context(*context)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    // Current to the caller: popped, as if by cuCtxPopCurrent. Other threads find it destroyed.
    auto& stack = context_stack();
    if (!stack.empty() && stack.back() == context) stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxAttach(CUcontext* handle, unsigned int flags) {
  return in_any_context([=](Driver&, Context& context) {
    if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    context.attach();
    *handle = context.handle();
    return CUDA_SUCCESS;
  });
}

// The context must be the caller's current one. The primary context has users of its own.
CUresult CUDAAPI cuCtxDetach(CUcontext handle) {
  return in_any_context([=](Driver&, Context& context) {
    if (handle != context.handle() || context.primary()) return CUDA_ERROR_INVALID_CONTEXT;
    return context.detach() ? cuCtxDestroy(handle) : CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext handle) {
  return initialized([=](Driver& driver) {
    auto context = driver.contexts.find(handle);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    context_stack().push_back(std::move(context));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext* handle) {
  return initialized([=](Driver&) {
    auto& stack = context_stack();
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (handle != nullptr) *handle = stack.back()->handle();
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext handle) {
  return initialized([=](Driver& driver) {
    auto& stack = context_stack();
    if (handle == nullptr) {
      if (!stack.empty()) stack.pop_back();
      return CUDA_SUCCESS;
    }
    auto context = driver.contexts.find(handle);
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (stack.empty()) {
      stack.push_back(std::move(context));
    } else {
      stack.back() = std::move(context);
    }
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext* handle) {
  return initialized([=](Driver&) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto& stack = context_stack();
    *handle = stack.empty() ? nullptr : stack.back()->handle();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  return in_any_context([=](Driver&, Context& context) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = context.device();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  return initialized([=](Driver& driver) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUresult code = CUDA_SUCCESS;
    if (const auto context = named_or_current(driver, handle, code)) *device = context->device();
    return code;
  });
}

CUresult CUDAAPI cuCtxGetFlags(unsigned int* flags) {
  return in_any_context([=](Driver&, Context& context) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = context.flags();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxSetFlags(unsigned int flags) {
  return in_any_context([=](Driver&, Context& context) {
    if (!valid_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    context.set_flags(flags);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return initialized([=](Driver& driver) {
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUresult code = CUDA_SUCCESS;
    const auto context = named_or_current(driver, handle, code);
    if (context) *id = context->id();
    return code;
  });
}

CUresult CUDAAPI cuCtxGetApiVersion(CUcontext handle, unsigned int* version) {
  return initialized([=](Driver& driver) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUresult code = CUDA_SUCCESS;
    constexpr unsigned kApiVersion = 3020;  // of cuCtxCreate_v2 and later
    if (named_or_current(driver, handle, code)) *version = kApiVersion;
    return code;
  });
}

CUresult CUDAAPI cuCtxSynchronize() {
  return in_context([](Driver& driver, Context& context) { return synchronize_streams(driver, context); });
}

CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext handle) {
  return initialized([=](Driver& driver) {
    CUresult code = CUDA_SUCCESS;
    const auto context = named_or_current(driver, handle, code);
    return context ? synchronize_streams(driver, *context) : code;
  });
}

CUresult CUDAAPI cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return in_context([=](Driver& driver, Context& context) {
    if (value == nullptr || limit < 0 || limit >= CU_LIMIT_MAX) return CUDA_ERROR_INVALID_VALUE;
    return driver.engine.limit(context, limit, *value);
  });
}

CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return in_context([=](Driver& driver, Context& context) {
    if (limit < 0 || limit >= CU_LIMIT_MAX) return CUDA_ERROR_INVALID_VALUE;
    return driver.engine.set_limit(context, limit, value);
  });
}

CUresult CUDAAPI cuCtxGetCacheConfig(CUfunc_cache* config) {
  return in_context([=](Driver&, Context& context) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = context.cache_config();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxSetCacheConfig(CUfunc_cache config) {
  return in_context([=](Driver&, Context& context) {
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
      return CUDA_ERROR_INVALID_VALUE;
    context.set_cache_config(config);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return in_context([=](Driver&, Context&) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return in_context([=](Driver&, Context&) {
    // A hint that no device after Kepler follows.
    return config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE ||
                   config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return in_context([=](Driver&, Context& context) {
    if (least != nullptr) *least = context.group()->least_priority();
    if (greatest != nullptr) *greatest = context.group()->greatest_priority();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuCtxResetPersistingL2Cache() {
  return in_context([](Driver&, Context&) { return CUDA_ERROR_NOT_SUPPORTED; });
}

}  // extern "C"
}  // namespace fairgv::cuda
