#include "cuda-shim/api/code/library.hpp"

#include <algorithm>

#include "cuda-shim/api/driver.hpp"

namespace fairgv::cuda {
namespace {

/// A module of the library in the current context. Null: there is no current context, or the code says why.
std::shared_ptr<Module> module_here(Driver& driver, Library& library, CUresult& code) {
  const auto& stack = context_stack();
  code = CUDA_SUCCESS;
  if (stack.empty() || stack.back()->ended()) return nullptr;
  return library.module_in(driver, *stack.back(), code);
}

/// CUDA_ERROR_NOT_FOUND: the library has no such kernel, as far as can be told.
CUresult check_kernel(Driver& driver, Library& library, std::string_view name) {
  if (const auto* const names = library.image().kernel_names()) {
    return std::find(names->begin(), names->end(), name) != names->end() ? CUDA_SUCCESS
                                                                         : CUDA_ERROR_NOT_FOUND;
  }
  CUresult code = CUDA_SUCCESS;
  const auto module = module_here(driver, library, code);
  if (!module) return code;  // unknown without a context: the first use will tell
  CUfunction function = nullptr;
  return module->function(name, function);
}

}  // namespace

CUresult kernel_names(Driver& driver, Library& library, std::vector<std::string>& names) {
  if (const auto* const known = library.image().kernel_names()) {
    names = *known;
    return CUDA_SUCCESS;
  }
  CUresult code = CUDA_SUCCESS;
  const auto module = module_here(driver, library, code);
  if (module) return module->kernel_names(names);
  return code == CUDA_SUCCESS ? CUDA_ERROR_INVALID_CONTEXT : code;
}

std::shared_ptr<Module> Library::module_in(Driver& driver, Context& context, CUresult& code) {
  // Loading may take long. It delays only threads that need the same library, which must wait anyway.
  const std::lock_guard guard(lock_);
  auto& module = modules_[context.handle()];
  code = CUDA_SUCCESS;
  if (module) return module;
  LoadLog log;
  module = driver.engine.make_module(driver, image_, context, code, log);
  tell(log, {}, code);
  if (module) driver.modules.add(module);
  return module;
}

CUresult Library::kernel(Driver& driver, std::string_view name, CUkernel& kernel) {
  if (const CUresult code = check_kernel(driver, *this, name); code != CUDA_SUCCESS) return code;
  const std::lock_guard guard(lock_);
  auto& handle = kernels_[std::string(name)];
  if (handle == nullptr) {
    handle = reinterpret_cast<CUkernel>(driver.kernels.add(
        std::make_shared<LibraryKernel>(LibraryKernel{shared_from_this(), std::string(name)})));
  }
  kernel = handle;
  return CUDA_SUCCESS;
}

void Library::unload(Driver& driver) {
  const std::lock_guard guard(lock_);
  for (const auto& [name, handle] : kernels_) driver.kernels.take(handle);
  kernels_.clear();
  for (const auto& [context, module] : modules_) {
    if (!module) continue;
    driver.modules.take(module.get());
    module->unload();
  }
  modules_.clear();
}

void Library::leave(CUcontext context) {
  std::shared_ptr<Module> left;  // destroyed without the lock
  const std::lock_guard guard(lock_);
  const auto found = modules_.find(context);
  if (found == modules_.end()) return;
  left = std::move(found->second);
  modules_.erase(found);
}

std::shared_ptr<Function> find_function(Driver& driver, Context& context, CUfunction handle, CUresult& code) {
  code = CUDA_SUCCESS;
  if (auto function = driver.functions.find(handle)) return function;
  const auto kernel = driver.kernels.find(handle);
  if (!kernel) {
    code = CUDA_ERROR_INVALID_HANDLE;
    return nullptr;
  }
  const auto module = kernel->library->module_in(driver, context, code);
  if (!module) return nullptr;
  CUfunction function = nullptr;
  code = module->function(kernel->name, function);
  return code == CUDA_SUCCESS ? driver.functions.find(function) : nullptr;
}

}  // namespace fairgv::cuda
