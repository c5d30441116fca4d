// The registrations of compiled code: fat binaries with their kernels and variables, found by the address of
// their host stand-ins (the stub of a kernel, the shadow of a variable).
//
// nvcc emits a constructor per source file that registers everything before main, and an exit handler that
// undoes it; a shared library does the same when it is opened and closed. Registering does not touch the
// driver: a fat binary is loaded when one of its kernels or variables is first used ("lazy loading"), as a
// context-independent library, so that one kernel handle serves all contexts (CUDA Driver API, "Library
// Management").
//
// Looking up is free of locks. Registering and loading lock.
#ifndef FAIRGV_CUDA_SHIM_CUDART_REGISTRY_HPP
#define FAIRGV_CUDA_SHIM_CUDART_REGISTRY_HPP

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda-shim/cudart/modules/address_table.hpp"
#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {

class FatBinary;

// A kernel of a fat binary.
struct RegisteredKernel {
  FatBinary* owner;
  const void* stub;
  std::string name;  // in the device code
  // Found at first use: release in FatBinary::kernel, acquire there too.
  std::atomic<CUkernel> handle{nullptr};
};

// A variable of a fat binary.
struct RegisteredVariable {
  FatBinary* owner;
  const void* shadow;
  std::string name;
  std::size_t size;
  void** managed;  // receives the address of a managed variable; null for others
};

// One registered image. Owned by the registry.
class FatBinary {
 public:
  explicit FatBinary(const void* image) : image_(image) {}

  RegisteredKernel& add_kernel(const void* stub, const char* name);
  RegisteredVariable& add_variable(const void* shadow, const char* name, std::size_t size, void** managed);
  // The image refers to host variables in a way that no documented driver function serves.
  void refuse() { refused_ = true; }
  // The image is the linked code of several units, to which this wrapper leads, too.
  void has_units(const void* wrapper) { wrapper_ = wrapper; }

  // The kernel's handle, which is valid in every context; loads the image if need be.
  Status kernel(const Driver& driver, RegisteredKernel& kernel, CUkernel& handle);
  // Address and size of a variable in the current context.
  Status variable(const Driver& driver, const RegisteredVariable& variable, void*& address,
                  std::size_t& size);
  // Loads the image and tells the host side where its managed variables are.
  Status load(const Driver& driver);
  void unload();

  const std::vector<std::unique_ptr<RegisteredKernel>>& kernels() const { return kernels_; }
  const std::vector<std::unique_ptr<RegisteredVariable>>& variables() const { return variables_; }

 private:
  Status load_locked(const Driver& driver);
  CUresult load_library(const Driver& driver, CUlibrary& library) const;

  const void* image_;
  const void* wrapper_ = nullptr;  // of several units
  bool refused_ = false;
  std::mutex mutex_;
  CUlibrary library_ = nullptr;  // under the mutex
  std::vector<std::unique_ptr<RegisteredKernel>>
      kernels_;  // only grow, under the registry's mutex, before first use
  std::vector<std::unique_ptr<RegisteredVariable>> variables_;
};

class Registry {
 public:
  static Registry& instance();

  FatBinary* add(const void* image);
  void remove(FatBinary* binary);

  void add_kernel(FatBinary* binary, const void* stub, const char* name);
  void add_variable(FatBinary* binary, const void* shadow, const char* name, std::size_t size,
                    void** managed);
  // Managed variables are also known by the address that the host side uses.
  void add_managed_address(const void* address, RegisteredVariable* variable) {
    variables_.insert(address, variable);
  }

  RegisteredKernel* kernel(const void* stub) const { return kernels_.find(stub); }
  RegisteredVariable* variable(const void* shadow) const { return variables_.find(shadow); }

  // Handles that the program got from us (cudaGetKernel, cudaLibraryGetKernel), which it may use in place of
  // stubs.
  void add_handle(CUkernel handle) { handles_.insert(handle, handle); }
  bool is_handle(const void* handle) const { return handles_.find(handle) != nullptr; }
  // The program's name for the kernel: its stub, or, for a kernel without a stub, a handle as above.
  const void* name_of(CUkernel handle);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<FatBinary>> binaries_;  // under the mutex
  AddressTable<RegisteredKernel> kernels_;
  AddressTable<RegisteredVariable> variables_;
  AddressTable<CUkern_st> handles_;
};

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_REGISTRY_HPP
