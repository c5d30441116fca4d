#include "cuda-shim/cudart/modules/registry.hpp"

#include <algorithm>

namespace fairgv::cudart {

RegisteredKernel& FatBinary::add_kernel(const void* stub, const char* name) {
  auto kernel = std::make_unique<RegisteredKernel>();
  kernel->owner = this;
  kernel->stub = stub;
  kernel->name = name;
  kernels_.push_back(std::move(kernel));
  return *kernels_.back();
}

RegisteredVariable& FatBinary::add_variable(const void* shadow, const char* name, std::size_t size,
                                            void** managed) {
  variables_.push_back(
      std::make_unique<RegisteredVariable>(RegisteredVariable{this, shadow, name, size, managed}));
  return *variables_.back();
}

// The linked code may be for another device, or missing (nvcc -code=compute_80): then a driver links the
// units, to which the wrapper leads. A driver that does not know such wrappers gets the linked code.
CUresult FatBinary::load_library(const Driver& driver, CUlibrary& library) const {
  const auto load = [&](const void* code) {
    return driver.cuLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  if (wrapper_ == nullptr) return load(image_);
  const CUresult result = load(wrapper_);
  const bool is_unknown = result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_INVALID_PTX ||
                          result == CUDA_ERROR_INVALID_VALUE;
  return is_unknown ? load(image_) : result;
}

Status FatBinary::load_locked(const Driver& driver) {
  if (library_ != nullptr) return cudaSuccess;
  if (refused_) return cudaErrorNotSupported;
  CUlibrary library = nullptr;
  FAIRGV_RETURN_IF_FAILED(load_library(driver, library));
  for (const auto& variable : variables_) {
    if (variable->managed == nullptr) continue;
    CUdeviceptr address = 0;
    std::size_t size = 0;
    if (const Status found = driver.cuLibraryGetManaged(&address, &size, library, variable->name.c_str());
        found.failed()) {
      (void)driver.cuLibraryUnload(library);
      return found;
    }
    *variable->managed = std::bit_cast<void*>(address);
    Registry::instance().add_managed_address(*variable->managed, variable.get());
  }
  library_ = library;
  return cudaSuccess;
}

Status FatBinary::load(const Driver& driver) {
  const std::lock_guard lock(mutex_);
  return load_locked(driver);
}

Status FatBinary::kernel(const Driver& driver, RegisteredKernel& kernel, CUkernel& handle) {
  handle = kernel.handle.load(std::memory_order_acquire);
  if (handle != nullptr) [[likely]]
    return cudaSuccess;
  const std::lock_guard lock(mutex_);
  FAIRGV_RETURN_IF_FAILED(load_locked(driver));
  const CUresult result = driver.cuLibraryGetKernel(&handle, library_, kernel.name.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) return cudaErrorInvalidDeviceFunction;
  FAIRGV_RETURN_IF_FAILED(result);
  kernel.handle.store(handle, std::memory_order_release);
  return cudaSuccess;
}

Status FatBinary::variable(const Driver& driver, const RegisteredVariable& variable, void*& address,
                           std::size_t& size) {
  const std::lock_guard lock(mutex_);
  FAIRGV_RETURN_IF_FAILED(load_locked(driver));
  if (variable.managed != nullptr) {
    address = *variable.managed;
    size = variable.size;
    return cudaSuccess;
  }
  const CUresult result = pass(driver.cuLibraryGetGlobal, &address, &size, library_, variable.name.c_str());
  return result == CUDA_ERROR_NOT_FOUND ? Status(cudaErrorInvalidSymbol) : Status(result);
}

void FatBinary::unload() {
  const std::lock_guard lock(mutex_);
  if (library_ == nullptr || process_is_exiting()) return;
  (void)loaded_driver().tables[0].cuLibraryUnload(library_);  // nobody is left to hear of an error
  library_ = nullptr;
}

Registry& Registry::instance() {
  static auto* const registry = new Registry;  // exit handlers of any library may come after ours
  return *registry;
}

FatBinary* Registry::add(const void* image) {
  const std::lock_guard lock(mutex_);
  binaries_.push_back(std::make_unique<FatBinary>(image));
  return binaries_.back().get();
}

void Registry::remove(FatBinary* binary) {
  std::unique_ptr<FatBinary> removed;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(binaries_.begin(), binaries_.end(),
                                    [&](const auto& candidate) { return candidate.get() == binary; });
    if (found == binaries_.end()) return;
    removed = std::move(*found);
    binaries_.erase(found);
  }
  for (const auto& kernel : removed->kernels()) kernels_.erase(kernel->stub, kernel.get());
  for (const auto& variable : removed->variables()) {
    variables_.erase(variable->shadow, variable.get());
    if (variable->managed != nullptr) variables_.erase(*variable->managed, variable.get());
  }
  removed->unload();
}

const void* Registry::name_of(CUkernel handle) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& binary : binaries_)
      for (const auto& kernel : binary->kernels())
        if (kernel->handle.load(std::memory_order_acquire) == handle) return kernel->stub;
  }
  add_handle(handle);
  return handle;
}

void Registry::add_kernel(FatBinary* binary, const void* stub, const char* name) {
  const std::lock_guard lock(mutex_);
  kernels_.insert(stub, &binary->add_kernel(stub, name));
}

void Registry::add_variable(FatBinary* binary, const void* shadow, const char* name, std::size_t size,
                            void** managed) {
  const std::lock_guard lock(mutex_);
  variables_.insert(shadow, &binary->add_variable(shadow, name, size, managed));
}

}  // namespace fairgv::cudart
