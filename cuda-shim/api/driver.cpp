#include "cuda-shim/api/driver.hpp"

#include <pthread.h>

#include <cstdlib>
#include <utility>

#include "cuda-shim/api/code/library.hpp"
#include "cuda-shim/api/code/module.hpp"
#include "cuda-shim/api/objects.hpp"

namespace fairgv::cuda {
namespace {

/// Relaxed: written by the first cuInit, only read later.
std::atomic<int> g_version{kDriverVersion};
std::mutex g_initialize_lock;

CUmemPoolProps default_pool_properties(CUdevice device) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

std::vector<LaunchLimits> limits_of_all(const Engine& engine) {
  std::vector<LaunchLimits> limits;
  for (std::size_t device = 0; device < engine.devices().size(); ++device)
    limits.push_back(launch_limits(engine, static_cast<CUdevice>(device)));
  return limits;
}

}  // namespace

void Driver::at_exit() {
  Life ready = Life::ready;
  if (!life_.compare_exchange_strong(ready, Life::ended, std::memory_order_acq_rel)) return;
  instance_->conductor.stop();
  instance_->shared_events.stop();
  instance_->engine.stop();
}

void Driver::in_forked_child() {
  const Life before = life_.exchange(Life::forked, std::memory_order_acq_rel);
  if (before == Life::ready || before == Life::ended) instance_->engine.disown_in_child();
}

CUresult Driver::initialize() {
  switch (life_.load(std::memory_order_acquire)) {
    case Life::ready:
      return CUDA_SUCCESS;
    case Life::ended:
      return CUDA_ERROR_DEINITIALIZED;
    case Life::forked:
      return CUDA_ERROR_NOT_INITIALIZED;
    case Life::untouched:
      break;
  }
  const std::lock_guard guard(g_initialize_lock);
  if (life_.load(std::memory_order_acquire) == Life::ready) return CUDA_SUCCESS;
  std::unique_ptr<Engine> engine;
  if (const CUresult code = open_engine(engine); code != CUDA_SUCCESS) return code;
  if (const CUresult code = engine->start(); code != CUDA_SUCCESS) return code;
  g_version.store(engine->version(), std::memory_order_relaxed);
  auto driver = std::make_unique<Driver>(std::move(engine));
  // After the libraries of the engine have registered their exit handlers: these run in reverse order.
  std::atexit(at_exit);
  pthread_atfork(nullptr, nullptr, in_forked_child);
  instance_ = driver.release();  // for ever: other threads may use it until the process has gone
  life_.store(Life::ready, std::memory_order_release);
  return CUDA_SUCCESS;
}

int Driver::version() {
  return g_version.load(std::memory_order_relaxed);
}

Driver::Driver(std::unique_ptr<Engine> opened)
    : owned_engine_(std::move(opened)),
      engine(*owned_engine_),
      scheduler(engine.scheduler()),
      virtual_memory(engine.address_space(), memory),
      graph_memory(static_cast<int>(engine.devices().size())),
      launch_limits_(limits_of_all(engine)),
      primaries_(static_cast<std::size_t>(device_count())),
      pools_of_devices_(static_cast<std::size_t>(device_count())) {
  for (CUdevice device = 0; device < device_count(); ++device) {
    Pools& pools_here = pools_of_devices_[static_cast<std::size_t>(device)];
    pools_here.first = std::make_shared<Pool>(default_pool_properties(device));
    pools_here.current.store(pools.add(pools_here.first)->handle(), std::memory_order_relaxed);
  }
}

Driver::~Driver() = default;

CUresult Driver::make_context(CUdevice device, unsigned flags, bool primary,
                              std::shared_ptr<Context>& context) {
  auto made = std::make_shared<Context>(scheduler, device, flags, primary,
                                        next_context_id_.fetch_add(1, std::memory_order_relaxed));
  std::shared_ptr<StreamGroup> group;
  const CUresult code = engine.make_group(made->handle(), device, primary, flags, group);
  if (code != CUDA_SUCCESS) return code;
  made->open(std::move(group));
  contexts.add(made);
  context = std::move(made);
  return CUDA_SUCCESS;
}

bool Driver::end_context(Context& context) {
  if (!context.end()) return false;
  captures.forget(*context.group());
  conductor.give_up(context.handle());
  scheduler.give_up_waits(*context.group());
  shared_events.give_up(context.handle());
  scheduler.synchronize(*context.group());
  const CUcontext handle = context.handle();
  const auto belongs = [handle](const auto& object) { return object.owner() == handle; };
  for (const auto& library : libraries.all()) library->leave(handle);
  for (const auto& module : modules.take_if(belongs)) module->unload();
  events.take_if([handle](const Event& event) { return event.owner == handle; });
  streams.take_if([handle](const Stream& stream) { return stream.group()->owner() == handle; });
  const auto reads = [handle](const TextureObject& object) { return object.owner == handle; };
  textures.take_if(reads);
  surfaces.take_if(reads);
  arrays.take_if([handle](const Array& array) { return array.owner == handle; });
  mipmaps.take_if([handle](const Mipmap& mipmap) { return mipmap.owner == handle; });
  memory.remove_all_of(handle);
  engine.close_group(*context.group());
  contexts.take(handle);
  return true;
}

CUresult Driver::allocate(Context& context, const MemoryWish& wish, std::shared_ptr<Allocation>& allocation) {
  auto made = std::make_shared<Allocation>();
  made->size = wish.size;
  made->kind = wish.kind;
  made->flags = wish.flags;
  made->pool = wish.pool;
  made->context = context.handle();
  made->device = context.device();
  if (!memory.charge(wish.size, description(context.device()).allocatable)) return CUDA_ERROR_OUT_OF_MEMORY;
  made->charged = wish.size;
  if (const CUresult code = engine.make_storage(context, wish, *made); code != CUDA_SUCCESS) {
    memory.discharge(wish.size);
    return code;
  }
  if (wish.kind == MemoryKind::graph) made->hold.store(GraphHold::idle, std::memory_order_release);
  memory.add(made);
  allocation = std::move(made);
  return CUDA_SUCCESS;
}

CUresult Driver::retain_primary(CUdevice device, CUcontext& context) {
  const std::lock_guard guard(primary_lock_);
  Primary& kept = primary(device);
  if (!kept.context) {
    if (const CUresult code = make_context(device, kept.flags, true, kept.context); code != CUDA_SUCCESS)
      return code;
  }
  ++kept.users;
  context = kept.context->handle();
  return CUDA_SUCCESS;
}

CUresult Driver::release_primary(CUdevice device) {
  std::shared_ptr<Context> last;
  {
    const std::lock_guard guard(primary_lock_);
    Primary& kept = primary(device);
    if (kept.users == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--kept.users == 0) last = std::exchange(kept.context, nullptr);
  }
  if (last) end_context(*last);
  return CUDA_SUCCESS;
}

CUresult Driver::reset_primary(CUdevice device) {
  std::shared_ptr<Context> reset;
  {
    const std::lock_guard guard(primary_lock_);
    reset = std::exchange(primary(device).context, nullptr);  // its users still have to release it
    primary(device).flags = CU_CTX_SCHED_AUTO;
  }
  if (reset) end_context(*reset);
  return CUDA_SUCCESS;
}

CUresult Driver::set_primary_flags(CUdevice device, unsigned flags) {
  const std::lock_guard guard(primary_lock_);
  Primary& kept = primary(device);
  kept.flags = flags;
  if (kept.context) kept.context->set_flags(flags);
  return CUDA_SUCCESS;
}

void Driver::primary_state(CUdevice device, unsigned& flags, bool& active) const {
  const std::lock_guard guard(primary_lock_);
  const Primary& kept = primaries_[static_cast<std::size_t>(device)];
  flags = kept.flags;
  active = kept.context != nullptr;
}

const std::shared_ptr<Pool>& Driver::default_pool(CUdevice device) const {
  return pools_of_devices_[static_cast<std::size_t>(device)].first;
}

std::shared_ptr<Pool> Driver::current_pool(CUdevice device) {
  const Pools& here = pools_of_devices_[static_cast<std::size_t>(device)];
  auto current = pools.find(here.current.load(std::memory_order_relaxed));
  return current ? current : here.first;
}

void Driver::set_current_pool(CUdevice device, CUmemoryPool pool) {
  pools_of_devices_[static_cast<std::size_t>(device)].current.store(pool, std::memory_order_relaxed);
}

}  // namespace fairgv::cuda
