// The driver of this process: the device, everything that has a handle, and the driver's life.
//
// Life: untouched → ready (the first cuInit that succeeds) → ended (exit() has begun). Nothing is destroyed
// at the end: executor threads are told to stop and are waited for a short while, and every later call
// answers CUDA_ERROR_DEINITIALIZED. A forked child has no executor threads: there every call answers
// CUDA_ERROR_NOT_INITIALIZED, as NVIDIA's driver does. The library is never unloaded (-z nodelete): dlclose
// does nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "context.hpp"
#include "cuda.hpp"
#include "handle_table.hpp"
#include "launch_frame.hpp"
#include "memory_table.hpp"
#include "opencl_device.hpp"
#include "scheduler.hpp"

namespace fairgv::softcuda {

class Module;
class Function;
class Library;
class Linking;
struct LibraryKernel;
struct Event;
struct Array;
class Pool;

inline constexpr int kDriverVersion = 13000;
inline constexpr CUdevice kDevice = 0;  // there is one

class Driver {
 public:
  /// cuInit. Once it has succeeded it does nothing more; a failure is tried again at the next call.
  static CUresult initialize();
  /// CUDA_SUCCESS, or why nothing can be asked for.
  static CUresult state();
  /// Only where state() is CUDA_SUCCESS.
  static Driver& get();

  explicit Driver(std::unique_ptr<OpenClDevice> opened);

  /// The primary context (CUDA Driver API, "Primary Context Management"): retained is active.
  CUresult retain_primary(CUcontext& context);
  CUresult release_primary();
  CUresult reset_primary();
  CUresult set_primary_flags(unsigned flags);
  void primary_state(unsigned& flags, bool& active) const;

  std::shared_ptr<Context> make_context(unsigned flags, bool primary);
  /// Waits for its work, then frees all that belongs to it. False: it had been ended before.
  bool end_context(Context& context);

  const std::unique_ptr<OpenClDevice> device;
  Scheduler scheduler;
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
  HandleTable<Pool> pools;
  LaunchFrames frames;
  const std::shared_ptr<Pool> default_pool;
  /// The device's current pool (cuDeviceSetMemPool); a handle, found anew at every use. Relaxed: it orders
  /// nothing.
  std::atomic<CUmemoryPool> current_pool;

 private:
  mutable std::mutex primary_lock_;
  std::shared_ptr<Context> primary_;
  unsigned primary_users_ = 0;
  unsigned primary_flags_ = CU_CTX_SCHED_AUTO;
  std::atomic<std::uint64_t> next_context_id_{1};  // relaxed: only uniqueness counts
};

/// One line on stderr, if FAIRGV_SOFTCUDA_VERBOSE is set.
void say_if_verbose(const std::string& line);

}  // namespace fairgv::softcuda
