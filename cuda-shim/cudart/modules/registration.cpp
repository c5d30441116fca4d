// The functions that nvcc's code calls before main and at exit to register its fat binaries
// (crt/host_runtime.h of the toolkit), and around a launch <<<...>>>. Nobody checks their results, so errors
// show at first use.
#include <unistd.h>

#include <cstdint>
#include <string>

#include "cuda-shim/cudart/launch.hpp"
#include "cuda-shim/cudart/modules/registry.hpp"

namespace fairgv::cudart {
namespace {

// The wrapper that nvcc puts around an image (fatbinary_section.h): version 1 around one image, version 2
// around the linked image of relocatable device code and its units.
struct FatBinaryWrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* image;
  const void* names_or_units;
};
constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kLinkedVersion = 2;

FatBinary* binary_of(void** handle) {
  return std::bit_cast<FatBinary*>(handle);
}

// Runs a registration. If memory runs out, the object stays unregistered, which its first use reports.
template <class Body>
void quietly(const Body& body) noexcept {
  try {
    body();
  } catch (...) {
    (void)note(cudaErrorMemoryAllocation);
  }
}

}  // namespace

FAIRGV_EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  FatBinary* binary = nullptr;
  quietly([&] {
    const auto* const wrapped = static_cast<const FatBinaryWrapper*>(wrapper);
    const bool known = wrapped != nullptr && wrapped->magic == kWrapperMagic;
    binary = Registry::instance().add(known ? wrapped->image : wrapper);
    if (known && wrapped->version == kLinkedVersion) binary->has_units(wrapper);
    if (!known) binary->refuse();
  });
  return std::bit_cast<void**>(binary);
}

FAIRGV_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

FAIRGV_EXPORT void __cudaUnregisterFatBinary(void** handle) {
  if (handle != nullptr) quietly([&] { Registry::instance().remove(binary_of(handle)); });
}

FAIRGV_EXPORT void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name, int,
                                          uint3*, uint3*, dim3*, dim3*, int*) {
  if (handle != nullptr) quietly([&] { Registry::instance().add_kernel(binary_of(handle), stub, name); });
}

FAIRGV_EXPORT void __cudaRegisterVar(void** handle, char* shadow, char*, const char* name, int,
                                     std::size_t size, int, int) {
  if (handle == nullptr) return;
  quietly([&] { Registry::instance().add_variable(binary_of(handle), shadow, name, size, nullptr); });
}

FAIRGV_EXPORT void __cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* name, int,
                                            std::size_t size, int, int) {
  if (handle == nullptr) return;
  quietly([&] { Registry::instance().add_variable(binary_of(handle), pointer, name, size, pointer); });
}

// Host variables that device code names (unified memory with address translation): only NVIDIA's own runtime
// can bind them, so that kernels of such an image are refused when they are used.
FAIRGV_EXPORT void __cudaRegisterHostVar(void** handle, const char*, char*, std::size_t) {
  if (handle != nullptr) binary_of(handle)->refuse();
}

// Function pointers that host and device share; likewise.
FAIRGV_EXPORT void __cudaRegisterUnifiedTable(void** handle, void*) {
  if (handle != nullptr) binary_of(handle)->refuse();
}

// Called before the host first touches a managed variable. The result is the value of nvcc's own flag: 0
// means that the next access asks again.
FAIRGV_EXPORT char __cudaInitModule(void** handle) {
  if (handle == nullptr) return 0;
  const cudaError_t error = enter<Needs::kContext, DefaultStream::kLegacy>(
      [&](const Driver& driver) { return binary_of(handle)->load(driver); });
  if (error == cudaSuccess) return 1;
  // The program's code does not ask, and its access goes through a null pointer.
  const std::string line =
      std::string(
          "fairgv cudart: a __managed__ variable is used, but the code that has it cannot be loaded (") +
      cudaGetErrorName(error) + ", " + cudaGetErrorString(error) + "): the program cannot go on\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  return 0;
}

}  // namespace fairgv::cudart
