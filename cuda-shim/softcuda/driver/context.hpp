// A CUDA context: streams, a fault that sticks, limits; and the stack of contexts that every thread has
// (CUDA Driver API, "Context Management").
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cuda.hpp"
#include "scheduler.hpp"

namespace fairgv::softcuda {

class Context {
 public:
  Context(Scheduler& scheduler, unsigned flags, bool primary, std::uint64_t id);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  CUcontext handle() { return reinterpret_cast<CUcontext>(this); }
  const std::shared_ptr<StreamGroup>& group() const { return group_; }
  bool primary() const { return primary_; }
  std::uint64_t id() const { return id_; }
  unsigned flags() const { return flags_.load(std::memory_order_relaxed); }
  void set_flags(unsigned flags) { flags_.store(flags, std::memory_order_relaxed); }

  std::shared_ptr<Stream> legacy_stream() const { return scheduler_.legacy(*group_); }
  /// The calling thread's default stream; made when it is first asked for.
  std::shared_ptr<Stream> thread_stream();

  /// True once; the context is of no more use from then on (but its handle is still told).
  bool end() { return !ended_.exchange(true, std::memory_order_acq_rel); }
  bool ended() const { return ended_.load(std::memory_order_acquire); }

  CUresult limit(CUlimit which, std::size_t& value) const;
  CUresult set_limit(CUlimit which, std::size_t value);
  CUfunc_cache cache_config() const { return cache_config_.load(std::memory_order_relaxed); }
  void set_cache_config(CUfunc_cache config) { cache_config_.store(config, std::memory_order_relaxed); }

 private:
  Scheduler& scheduler_;
  const bool primary_;
  const std::uint64_t id_;
  const std::shared_ptr<StreamGroup> group_;
  /// Settings: each stands for itself, so relaxed.
  std::atomic<unsigned> flags_;
  std::atomic<CUfunc_cache> cache_config_{CU_FUNC_CACHE_PREFER_NONE};
  /// end() exchanges with acq_rel, ended() loads with acquire.
  std::atomic<bool> ended_{false};
  mutable std::mutex lock_;
  std::map<std::thread::id, std::shared_ptr<Stream>> thread_streams_;
  std::map<CUlimit, std::size_t> limits_;
};

/// The calling thread's stack; the last one is current. An entry may be null (cuCtxPushCurrent never,
/// SetCurrent pops).
std::vector<std::shared_ptr<Context>>& context_stack();

/// True while the calling thread runs a program's host function, which may not call CUDA
/// ("cuLaunchHostFunc").
bool& in_host_function();

}  // namespace fairgv::softcuda
