#include "cuda-shim/cudart/driver.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace fairgv::cudart {
namespace {

// Variants for the default stream of a thread came with CUDA 7.0, those of later calls with the call's first
// release. For an earlier release the driver has no variant.
constexpr int kPerThreadVariants = 7000;

// The oldest driver that has context-independent libraries and finds functions by version (CUDA 12.0).
constexpr int kOldestDriver = 12000;

// Set by an exit handler, read before calls into the driver. No data is published with it: exit handlers run
// on one thread, and calls of other threads meanwhile are a race in the program.
std::atomic<bool> exiting{false};

void note_exit() {
  exiting.store(true, std::memory_order_relaxed);
}

void* find(PFN_cuGetProcAddress_v12000 get, const char* name, int since, int driver_version,
           DefaultStream stream) {
  if (since > driver_version) return nullptr;  // the driver would return an older signature
  void* address = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  const bool per_thread = stream == DefaultStream::kPerThread;
  const cuuint64_t flags =
      per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
  const int release = per_thread ? std::max(since, kPerThreadVariants) : since;
  if (get(name, &address, release, flags, &status) != CUDA_SUCCESS) return nullptr;
  return status == CU_GET_PROC_ADDRESS_SUCCESS ? address : nullptr;
}

void fill(Driver& table, PFN_cuGetProcAddress_v12000 get, int driver_version, DefaultStream stream) {
  table.version = driver_version;
  table.default_stream = stream;
#define FAIRGV_DRIVER_FUNCTION(name, since) table.name.set(find(get, #name, since, driver_version, stream));
#include "cuda-shim/cudart/driver_functions.def"
#undef FAIRGV_DRIVER_FUNCTION
}

LoadedDriver load() {
  LoadedDriver loaded;
  // Never closed: threads of the driver outlive any user of it.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return loaded;
  // The driver's exit handlers were registered by opening it, so this one runs before them.
  std::atexit(note_exit);
  void* lookup = dlsym(library, "cuGetProcAddress_v2");
  // Under the name without a version a driver may offer the older form, which ignores the last argument.
  if (lookup == nullptr) lookup = dlsym(library, "cuGetProcAddress");
  if (lookup == nullptr) return loaded;
  auto* const get = reinterpret_cast<PFN_cuGetProcAddress_v12000>(lookup);
  loaded.get_proc_address = get;

  PFN_cuDriverGetVersion_v2020 version_of = nullptr;
  version_of = reinterpret_cast<PFN_cuDriverGetVersion_v2020>(
      find(get, "cuDriverGetVersion", 2020, kOldestDriver, DefaultStream::kLegacy));
  int version = 0;
  if (version_of == nullptr) return loaded;
  if (const CUresult result = version_of(&version); result != CUDA_SUCCESS) {
    loaded.error = static_cast<cudaError_t>(result);  // the toolkit's stub library: cudaErrorStubLibrary
    return loaded;
  }
  for (Driver& table : loaded.tables) table.version = version;
  if (version < kOldestDriver) return loaded;
  fill(loaded.tables[0], get, version, DefaultStream::kLegacy);
  fill(loaded.tables[1], get, version, DefaultStream::kPerThread);
  loaded.error = static_cast<cudaError_t>(loaded.tables[0].cuInit(0));
  return loaded;
}

}  // namespace

const LoadedDriver& loaded_driver() {
  static const LoadedDriver* const driver = new LoadedDriver(load());  // outlives every static object
  return *driver;
}

bool process_is_exiting() {
  return exiting.load(std::memory_order_relaxed);
}

}  // namespace fairgv::cudart
