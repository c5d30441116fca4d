// The driver of this process: the engine beneath, all objects with a handle, and the driver's life.
//
// Life: untouched → ready (the first cuInit that succeeds) → ended (exit() has begun). Nothing is destroyed
// at the end, and every later call answers CUDA_ERROR_DEINITIALIZED. A forked child has none of the engine's
// threads: there every call answers CUDA_ERROR_NOT_INITIALIZED, as NVIDIA's driver does. The library is never
// unloaded (-z nodelete): dlclose does nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda-shim/api/code/launch.hpp"
#include "cuda-shim/api/context.hpp"
#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/engine.hpp"
#include "cuda-shim/api/graph/capture.hpp"
#include "cuda-shim/api/graph/conditional/conductor.hpp"
#include "cuda-shim/api/graph/graph_memory.hpp"
#include "cuda-shim/api/graph/graphs.hpp"
#include "cuda-shim/api/handle_table.hpp"
#include "cuda-shim/api/memory/memory_table.hpp"
#include "cuda-shim/api/memory/opened.hpp"
#include "cuda-shim/api/memory/virtual/virtual_memory.hpp"
#include "cuda-shim/api/scheduler.hpp"
#include "cuda-shim/api/shared/events.hpp"

namespace fairgv::cuda {

class Module;
class Function;
class Library;
class Linking;
struct LibraryKernel;
struct Event;
struct Array;
struct TextureObject;
class Pool;

inline constexpr int kDriverVersion = 13000;

class Driver {
  enum class Life { untouched, ready, ended, forked };
  /// initialize() stores with release after the driver has been made; every entry point loads with acquire.
  static inline std::atomic<Life> life_{Life::untouched};
  static inline Driver* instance_ = nullptr;

  const std::unique_ptr<Engine> owned_engine_;  // before what refers to it

 public:
  /// cuInit. After a success, further calls do nothing; after a failure, the next call tries again.
  static CUresult initialize();
  /// CUDA_SUCCESS, or the reason why no call can be served.
  static CUresult state() {
    const Life life = life_.load(std::memory_order_acquire);
    if (life == Life::ready) [[likely]]
      return CUDA_SUCCESS;
    return life == Life::ended ? CUDA_ERROR_DEINITIALIZED : CUDA_ERROR_NOT_INITIALIZED;
  }
  /// Only where state() is CUDA_SUCCESS.
  static Driver& get() { return *instance_; }

  /// As cuDriverGetVersion answers, at any time.
  static int version();

  explicit Driver(std::unique_ptr<Engine> opened);
  ~Driver();

  int device_count() const { return static_cast<int>(launch_limits_.size()); }
  bool has_device(CUdevice device) const { return device >= 0 && device < device_count(); }
  /// The device must exist.
  const DeviceDescription& description(CUdevice device) const {
    return engine.devices()[static_cast<std::size_t>(device)];
  }
  const LaunchLimits& launch_limits(CUdevice device) const {
    return launch_limits_[static_cast<std::size_t>(device)];
  }

  /// The primary context of a device that is there (CUDA Driver API, "Primary Context Management"): retained
  /// is active.
  CUresult retain_primary(CUdevice device, CUcontext& context);
  CUresult release_primary(CUdevice device);
  CUresult reset_primary(CUdevice device);
  CUresult set_primary_flags(CUdevice device, unsigned flags);
  void primary_state(CUdevice device, unsigned& flags, bool& active) const;

  CUresult make_context(CUdevice device, unsigned flags, bool primary, std::shared_ptr<Context>& context);
  /// Waits for the context's work, then frees everything that belongs to it. False: the context had been
  /// ended before.
  bool end_context(Context& context);

  /// Memory of a context's device, entered in the table.
  CUresult allocate(Context& context, const MemoryWish& wish, std::shared_ptr<Allocation>& allocation);

  /// The pools of a device that is there.
  const std::shared_ptr<Pool>& default_pool(CUdevice device) const;
  /// The current one; the default pool if that has been destroyed.
  std::shared_ptr<Pool> current_pool(CUdevice device);
  void set_current_pool(CUdevice device, CUmemoryPool pool);

  Engine& engine;
  Scheduler& scheduler;  // the engine's
  MemoryTable memory;
  OpenedMemory opened_memory;
  SharedEvents shared_events;
  VirtualMemory virtual_memory;
  HandleTable<Context> contexts;
  HandleTable<Stream> streams;
  HandleTable<Event> events;
  HandleTable<Module> modules;
  HandleTable<Function> functions;
  HandleTable<Library> libraries;
  HandleTable<LibraryKernel> kernels;
  HandleTable<Linking> linkings;
  HandleTable<Array> arrays;  // with the levels of mipmapped arrays
  HandleTable<Mipmap> mipmaps;
  HandleTable<TextureObject> textures, surfaces;  // by the engine's handles
  HandleTable<Pool> pools;
  GraphMemoryBooks graph_memory;  // before the graphs
  Graphs graphs;
  Captures captures{graphs};
  Conductor conductor{*this};

 private:
  static void at_exit();
  static void in_forked_child();

  struct Primary {
    std::shared_ptr<Context> context;
    unsigned users = 0;
    unsigned flags = CU_CTX_SCHED_AUTO;
  };
  struct Pools {
    std::shared_ptr<Pool> first;  // the default one
    /// A handle, looked up at every use. Relaxed: it orders nothing.
    std::atomic<CUmemoryPool> current;
  };
  Primary& primary(CUdevice device) { return primaries_[static_cast<std::size_t>(device)]; }

  const std::vector<LaunchLimits> launch_limits_;  // by device
  mutable std::mutex primary_lock_;                // guards primaries_
  std::vector<Primary> primaries_;                 // by device
  std::vector<Pools> pools_of_devices_;
  std::atomic<std::uint64_t> next_context_id_{1};  // relaxed: only uniqueness counts
};

}  // namespace fairgv::cuda
