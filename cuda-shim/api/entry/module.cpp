// Entry points: modules (CUDA Driver API, "Module Management").
#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "cuda-shim/api/code/image_source.hpp"
#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/code/module.hpp"
#include "cuda-shim/api/entry/entry.hpp"

namespace fairgv::cuda {
namespace {

CUresult load(Driver& driver, Context& context, CUmodule* handle, const void* image,
              std::optional<std::uint64_t> size, const JitOptions& options) {
  LoadLog log;
  CUresult code = CUDA_SUCCESS;
  const auto loaded = driver.engine.load_image(image, size, options, code, log);
  std::shared_ptr<Module> module;
  if (loaded) module = driver.engine.make_module(driver, loaded, context, code, log);
  tell(log, options, code);
  if (!module) return code;
  *handle = module->handle();
  driver.modules.add(std::move(module));
  return CUDA_SUCCESS;
}

template <typename Body>
CUresult on_module(CUmodule handle, const Body& body) noexcept {
  return in_context([&](Driver& driver, Context&) {
    const auto module = driver.modules.find(handle);
    return module ? static_cast<CUresult>(body(*module)) : CUDA_ERROR_INVALID_HANDLE;
  });
}

/// For calls that know no invalid handle.
template <typename Body>
CUresult on_given_module(CUmodule handle, const Body& body) noexcept {
  return unless_null(handle, [&] { return on_module(handle, body); });
}

}  // namespace

CUresult read_whole_file(const char* path, std::string& bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return file.bad() ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_SUCCESS;
}

extern "C" {

CUresult CUDAAPI cuModuleLoad(CUmodule* module, const char* path) {
  return in_context([=](Driver& driver, Context& context) {
    if (module == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::string bytes;
    if (const CUresult code = read_whole_file(path, bytes); code != CUDA_SUCCESS) return code;
    return load(driver, context, module, bytes.data(), bytes.size(), {});
  });
}

CUresult CUDAAPI cuModuleLoadData(CUmodule* module, const void* image) {
  return in_context([=](Driver& driver, Context& context) {
    if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return load(driver, context, module, image, std::nullopt, {});
  });
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count,
                                    CUjit_option* options, void** values) {
  return in_context([=](Driver& driver, Context& context) {
    if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    JitOptions read;
    const CUresult code = read_jit_options(count, options, values, read);
    return code == CUDA_SUCCESS ? load(driver, context, module, image, std::nullopt, read) : code;
  });
}

CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadData(module, image);
}

CUresult CUDAAPI cuModuleUnload(CUmodule handle) {
  return in_any_context([=](Driver& driver, Context& context) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto module = driver.modules.take(handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    driver.scheduler.synchronize(*context.group());  // its variables may be in use
    module->unload();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return initialized([=](Driver&) {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *mode = kLoadingMode;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  return on_given_module(handle, [=](Module& module) {
    if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return module.function(name, *function);
  });
}

CUresult CUDAAPI cuModuleGetFunctionCount(unsigned int* count, CUmodule handle) {
  return on_module(handle, [=](Module& module) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::string> names;
    const CUresult code = module.kernel_names(names);
    *count = static_cast<unsigned>(names.size());
    return code;
  });
}

CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction* functions, unsigned int room, CUmodule handle) {
  return on_module(handle, [=](Module& module) {
    if (functions == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::string> names;
    if (const CUresult code = module.kernel_names(names); code != CUDA_SUCCESS) return code;
    const std::size_t count = std::min<std::size_t>(room, names.size());
    for (std::size_t at = 0; at < count; ++at) {
      if (const CUresult code = module.function(names[at], functions[at]); code != CUDA_SUCCESS) return code;
    }
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule handle,
                                   const char* name) {
  return on_given_module(handle, [=](Module& module) {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr found = 0;
    std::size_t size = 0;
    if (const CUresult code = module.variable(name, found, size); code != CUDA_SUCCESS) return code;
    if (address != nullptr) *address = found;
    if (bytes != nullptr) *bytes = size;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace fairgv::cuda
