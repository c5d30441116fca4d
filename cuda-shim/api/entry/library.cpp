// Entry points: libraries and their kernels (CUDA Driver API, "Library Management").
#include <algorithm>

#include "cuda-shim/api/code/image_source.hpp"
#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/code/library.hpp"
#include "cuda-shim/api/entry/entry.hpp"

namespace fairgv::cuda {
namespace {

CUresult load_library(Driver& driver, CUlibrary* handle, const void* image, std::optional<std::uint64_t> size,
                      const JitOptions& options) {
  LoadLog log;
  CUresult code = CUDA_SUCCESS;
  const auto loaded = driver.engine.load_image(image, size, options, code, log);
  tell(log, options, code);
  if (!loaded) return code;
  auto library = std::make_shared<Library>(loaded);
  *handle = library->handle();
  driver.libraries.add(std::move(library));
  return CUDA_SUCCESS;
}

template <typename Body>
CUresult on_library(CUlibrary handle, const Body& body) noexcept {
  return initialized([&](Driver& driver) {
    const auto library = driver.libraries.find(handle);
    return library ? static_cast<CUresult>(body(driver, *library)) : CUDA_ERROR_INVALID_HANDLE;
  });
}

template <typename Body>
CUresult on_library_module(CUlibrary handle, const Body& body) noexcept {
  return in_context([&](Driver& driver, Context& context) {
    const auto library = driver.libraries.find(handle);
    if (!library) return CUDA_ERROR_INVALID_HANDLE;
    CUresult code = CUDA_SUCCESS;
    const auto module = library->module_in(driver, context, code);
    return module ? static_cast<CUresult>(body(*module)) : code;
  });
}

/// A kernel's function in the current context.
template <typename Body>
CUresult on_kernel_function(CUkernel handle, const Body& body) noexcept {
  return in_context([&](Driver& driver, Context& context) {
    CUresult code = CUDA_SUCCESS;
    const auto function = find_function(driver, context, reinterpret_cast<CUfunction>(handle), code);
    return function ? static_cast<CUresult>(body(driver, *function)) : code;
  });
}

CUresult tell_variable(CUlibrary handle, const char* name,
                       CUresult (Module::*find)(std::string_view, CUdeviceptr&, std::size_t&),
                       CUdeviceptr* address, std::size_t* bytes) noexcept {
  return on_library_module(handle, [=](Module& module) {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr found = 0;
    std::size_t size = 0;
    if (const CUresult code = (module.*find)(name, found, size); code != CUDA_SUCCESS) return code;
    if (address != nullptr) *address = found;
    if (bytes != nullptr) *bytes = size;
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options, void** values,
                                   unsigned int count, CUlibraryOption*, void**, unsigned int) {
  return initialized([=](Driver& driver) {
    if (library == nullptr || code == nullptr) return CUDA_ERROR_INVALID_VALUE;
    JitOptions read;
    const CUresult bad = read_jit_options(count, options, values, read);
    return bad == CUDA_SUCCESS ? load_library(driver, library, code, std::nullopt, read) : bad;
  });
}

CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options,
                                       void** values, unsigned int count, CUlibraryOption*, void**,
                                       unsigned int) {
  return initialized([=](Driver& driver) {
    if (library == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    JitOptions read;
    if (const CUresult bad = read_jit_options(count, options, values, read); bad != CUDA_SUCCESS) return bad;
    std::string bytes;
    if (const CUresult bad = read_whole_file(path, bytes); bad != CUDA_SUCCESS) return bad;
    return load_library(driver, library, bytes.data(), bytes.size(), read);
  });
}

CUresult CUDAAPI cuLibraryUnload(CUlibrary handle) {
  return initialized([=](Driver& driver) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto library = driver.libraries.take(handle);
    if (!library) return CUDA_ERROR_INVALID_HANDLE;
    for (const auto& context : driver.contexts.all()) driver.scheduler.synchronize(*context->group());
    library->unload(driver);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle, const char* name) {
  return on_library(handle, [=](Driver& driver, Library& library) {
    if (kernel == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return library.kernel(driver, name, *kernel);
  });
}

CUresult CUDAAPI cuLibraryGetKernelCount(unsigned int* count, CUlibrary handle) {
  return on_library(handle, [=](Driver& driver, Library& library) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::string> names;
    const CUresult code = kernel_names(driver, library, names);
    *count = static_cast<unsigned>(names.size());
    return code;
  });
}

CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int room, CUlibrary handle) {
  return on_library(handle, [=](Driver& driver, Library& library) {
    if (kernels == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::string> names;
    if (const CUresult code = kernel_names(driver, library, names); code != CUDA_SUCCESS) return code;
    const std::size_t count = std::min<std::size_t>(room, names.size());
    for (std::size_t at = 0; at < count; ++at) {
      if (const CUresult code = library.kernel(driver, names[at], kernels[at]); code != CUDA_SUCCESS)
        return code;
    }
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuLibraryGetModule(CUmodule* out, CUlibrary handle) {
  return on_library_module(handle, [=](Module& module) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = module.handle();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                                    const char* name) {
  return tell_variable(library, name, &Module::variable, address, bytes);
}

CUresult CUDAAPI cuLibraryGetManaged(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                                     const char* name) {
  return tell_variable(library, name, &Module::managed_variable, address, bytes);
}

CUresult CUDAAPI cuKernelGetFunction(CUfunction* out, CUkernel handle) {
  return on_kernel_function(handle, [=](Driver&, Function& function) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = function.handle();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuKernelGetLibrary(CUlibrary* library, CUkernel handle) {
  return initialized([=](Driver& driver) {
    const auto kernel = driver.kernels.find(handle);
    if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
    *library = kernel->library->handle();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel handle,
                                      CUdevice device) {
  return on_kernel_function(handle, [=](Driver& driver, Function& function) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!driver.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    return function.attribute(attribute, *value);
  });
}

CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle,
                                      CUdevice device) {
  return on_kernel_function(handle, [=](Driver& driver, Function& function) {
    if (!driver.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    return function.set_attribute(attribute, value);
  });
}

CUresult CUDAAPI cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice device) {
  return initialized([=](Driver& driver) {
    if (!driver.kernels.find(handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!driver.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    return config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuKernelGetName(const char** name, CUkernel handle) {
  return initialized([=](Driver& driver) {
    const auto kernel = driver.kernels.find(handle);
    if (name == nullptr || handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
    *name = kernel->name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuKernelGetParamInfo(CUkernel handle, std::size_t index, std::size_t* offset,
                                      std::size_t* size) {
  return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(handle), index, offset, size);
}

}  // extern "C"

}  // namespace fairgv::cuda
