// The driver of this process: the engine beneath, everything that has a handle, and the driver's life.
//
// Life: untouched → ready (the first cuInit that succeeds) → ended (exit() has begun). Nothing is destroyed
// at the end, and every later call answers CUDA_ERROR_DEINITIALIZED. A forked child has none of the engine's
// threads: there every call answers CUDA_ERROR_NOT_INITIALIZED, as NVIDIA's driver does. The library is never
// unloaded (-z nodelete): dlclose does nothing.
//
// Two libraries are made of this room, each over an engine of its own (README.md), which an engine's include
// folder brings in: engine.hpp, scheduler.hpp, module.hpp and storage.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda-shim/api/context.hpp"
#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/graph/capture.hpp"
#include "cuda-shim/api/graph/graphs.hpp"
#include "cuda-shim/api/handle_table.hpp"
#include "cuda-shim/api/memory/memory_table.hpp"
#include "engine.hpp"
#include "scheduler.hpp"

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

class Driver : public Engine {
 public:
  /// cuInit. Once it has succeeded it does nothing more; a failure is tried again at the next call.
  static CUresult initialize();
  /// CUDA_SUCCESS, or why nothing can be asked for.
  static CUresult state();
  /// Only where state() is CUDA_SUCCESS.
  static Driver& get();

  explicit Driver(Engine::Opened opened);
  ~Driver();

  bool has_device(CUdevice device) const { return device >= 0 && device < device_count(); }

  /// The primary context of a device that is there (CUDA Driver API, "Primary Context Management"): retained
  /// is active.
  CUresult retain_primary(CUdevice device, CUcontext& context);
  CUresult release_primary(CUdevice device);
  CUresult reset_primary(CUdevice device);
  CUresult set_primary_flags(CUdevice device, unsigned flags);
  void primary_state(CUdevice device, unsigned& flags, bool& active) const;

  CUresult make_context(CUdevice device, unsigned flags, bool primary, std::shared_ptr<Context>& context);
  /// Waits for its work, then frees all that belongs to it. False: it had been ended before.
  bool end_context(Context& context);

  /// Memory of a context's device, entered in the table.
  CUresult allocate(Context& context, const MemoryWish& wish, std::shared_ptr<Allocation>& allocation);

  /// The pools of a device that is there.
  const std::shared_ptr<Pool>& default_pool(CUdevice device) const;
  /// The current one; the default pool if that has been destroyed.
  std::shared_ptr<Pool> current_pool(CUdevice device);
  void set_current_pool(CUdevice device, CUmemoryPool pool);

  MemoryTable memory;
  HandleTable<Context> contexts;
  HandleTable<Stream> streams;
  HandleTable<Event> events;
  HandleTable<Module> modules;
  HandleTable<Function> functions;
  HandleTable<Library> libraries;
  HandleTable<LibraryKernel> kernels;
  HandleTable<Linking> linkings;
  HandleTable<Array> arrays;
  HandleTable<TextureObject> textures, surfaces;  // by the engine's handles
  HandleTable<Pool> pools;
  Graphs graphs;
  Captures captures{graphs};

 private:
  struct Primary {
    std::shared_ptr<Context> context;
    unsigned users = 0;
    unsigned flags = CU_CTX_SCHED_AUTO;
  };
  struct Pools {
    std::shared_ptr<Pool> first;  // the default one
    /// A handle, found anew at every use. Relaxed: it orders nothing.
    std::atomic<CUmemoryPool> current;
  };
  Primary& primary(CUdevice device) { return primaries_[static_cast<std::size_t>(device)]; }

  mutable std::mutex primary_lock_;  // guards primaries_
  std::vector<Primary> primaries_;   // by device
  std::vector<Pools> pools_of_devices_;
  std::atomic<std::uint64_t> next_context_id_{1};  // relaxed: only uniqueness counts
};

}  // namespace fairgv::cuda
