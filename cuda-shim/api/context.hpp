// A CUDA context: streams, a fault that sticks, settings; and the stack of contexts that every thread has
// (CUDA Driver API, "Context Management").
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda-shim/api/cuda.hpp"
#include "cuda-shim/api/scheduler.hpp"

namespace fairgv::cuda {

class Context : public std::enable_shared_from_this<Context> {
 public:
  Context(Scheduler& scheduler, CUdevice device, unsigned flags, bool primary, std::uint64_t id)
      : scheduler_(scheduler), device_(device), primary_(primary), id_(id), flags_(flags) {}
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Called once, before any other thread sees the context.
  void open(std::shared_ptr<StreamGroup> group) { group_ = std::move(group); }

  CUcontext handle() { return reinterpret_cast<CUcontext>(this); }
  CUdevice device() const { return device_; }
  const std::shared_ptr<StreamGroup>& group() const { return group_; }
  bool primary() const { return primary_; }
  std::uint64_t id() const { return id_; }
  unsigned flags() const { return flags_.load(std::memory_order_relaxed); }
  void set_flags(unsigned flags) { flags_.store(flags, std::memory_order_relaxed); }

  /// Made by the engine when it is first asked for.
  std::shared_ptr<Stream> legacy_stream() {
    return has_legacy_.load(std::memory_order_acquire) ? legacy_ : find_legacy();
  }
  /// The calling thread's default stream; made when it is first asked for, and forgotten with the thread.
  std::shared_ptr<Stream> thread_stream();

  /// True at the first call only. From then on the context cannot be used, but its handle is still reported.
  bool end() { return !ended_.exchange(true, std::memory_order_acq_rel); }
  bool ended() const { return ended_.load(std::memory_order_acquire); }

  /// The users that cuCtxAttach and cuCtxDetach count; the first is the one who has created it.
  void attach() { users_.fetch_add(1, std::memory_order_relaxed); }
  /// True: that was the last one.
  bool detach() { return users_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  CUfunc_cache cache_config() const { return cache_config_.load(std::memory_order_relaxed); }
  void set_cache_config(CUfunc_cache config) { cache_config_.store(config, std::memory_order_relaxed); }

 private:
  friend struct ThreadStreams;
  std::shared_ptr<Stream> find_legacy();

  Scheduler& scheduler_;
  const CUdevice device_;
  const bool primary_;
  const std::uint64_t id_;
  std::shared_ptr<StreamGroup> group_;  // set by open() only
  std::mutex legacy_lock_;              // held while legacy_ is set
  std::shared_ptr<Stream> legacy_;      // set once
  /// find_legacy() stores with release once legacy_ is set; legacy_stream() loads with acquire.
  std::atomic<bool> has_legacy_{false};
  /// Settings: each orders nothing else, so relaxed.
  std::atomic<unsigned> flags_;
  std::atomic<CUfunc_cache> cache_config_{CU_FUNC_CACHE_PREFER_NONE};
  /// A count: attach() is relaxed; detach() is acq_rel, so that the last one sees what the others have done.
  std::atomic<unsigned> users_{1};
  /// end() exchanges with acq_rel, ended() loads with acquire.
  std::atomic<bool> ended_{false};
};

/// The calling thread's stack; the last one is current. An entry may be null (cuCtxPushCurrent never,
/// SetCurrent pops).
std::vector<std::shared_ptr<Context>>& context_stack();

/// True while the calling thread runs a program's host function, which may not call CUDA
/// ("cuLaunchHostFunc").
inline bool& in_host_function() {
  static constinit thread_local bool inside = false;
  return inside;
}

}  // namespace fairgv::cuda
