#include "driver.hpp"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "module.hpp"
#include "objects.hpp"

namespace fairgv::softcuda {
namespace {

enum class Life { untouched, ready, ended, forked };

/// initialize() stores with release after the driver has been made; every entry point loads with acquire.
std::atomic<Life> g_life{Life::untouched};
Driver* g_driver = nullptr;
std::mutex g_initialize_lock;

void at_exit() {
  Life ready = Life::ready;
  if (!g_life.compare_exchange_strong(ready, Life::ended, std::memory_order_acq_rel)) return;
  // Kernels under way use OpenCL's threads and tables, which exit() is about to take apart.
  constexpr std::chrono::milliseconds kPatience{2000};
  OpenClDevice::abandon_queues();
  g_driver->scheduler.shutdown(kPatience);
}

void in_forked_child() {
  g_life.store(Life::forked, std::memory_order_release);
}

CUmemPoolProps default_pool_properties() {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = kDevice;
  return properties;
}

}  // namespace

void say_if_verbose(const std::string& line) {
  const char* const asked = std::getenv("FAIRGV_SOFTCUDA_VERBOSE");
  if (asked != nullptr && *asked != '\0') std::fprintf(stderr, "fairgv softcuda: %s\n", line.c_str());
}

CUresult Driver::initialize() {
  switch (g_life.load(std::memory_order_acquire)) {
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
  if (g_life.load(std::memory_order_acquire) == Life::ready) return CUDA_SUCCESS;
  auto opened = OpenClDevice::open();
  if (!opened) {
    say_if_verbose(opened.error().message);
    return CUDA_ERROR_NO_DEVICE;
  }
  auto driver = std::make_unique<Driver>(std::move(opened).value());
  if (const CUresult code = driver->scheduler.start(); code != CUDA_SUCCESS) return code;
  // After OpenCL has registered its own: exit handlers run in reverse order.
  std::atexit(at_exit);
  pthread_atfork(nullptr, nullptr, in_forked_child);
  g_driver = driver.release();  // for ever: other threads may use it until the process has gone
  g_life.store(Life::ready, std::memory_order_release);
  return CUDA_SUCCESS;
}

CUresult Driver::state() {
  const Life life = g_life.load(std::memory_order_acquire);
  if (life == Life::ready) return CUDA_SUCCESS;
  return life == Life::ended ? CUDA_ERROR_DEINITIALIZED : CUDA_ERROR_NOT_INITIALIZED;
}

Driver& Driver::get() {
  return *g_driver;
}

Driver::Driver(std::unique_ptr<OpenClDevice> opened)
    : device(std::move(opened)),
      memory(*device),
      default_pool(std::make_shared<Pool>(default_pool_properties())),
      current_pool(pools.add(default_pool)->handle()) {}

std::shared_ptr<Context> Driver::make_context(unsigned flags, bool primary) {
  auto context = std::make_shared<Context>(scheduler, flags, primary,
                                           next_context_id_.fetch_add(1, std::memory_order_relaxed));
  contexts.add(context);
  return context;
}

bool Driver::end_context(Context& context) {
  if (!context.end()) return false;
  scheduler.synchronize(*context.group());
  const CUcontext handle = context.handle();
  const auto belongs = [handle](const auto& object) { return object.owner() == handle; };
  for (const auto& library : libraries.all()) library->leave(handle);
  for (const auto& module : modules.take_if(belongs)) module->unload();
  events.take_if([handle](const Event& event) { return event.owner == handle; });
  streams.take_if([handle](const Stream& stream) { return stream.group()->owner() == handle; });
  arrays.take_if([handle](const Array& array) { return array.owner == handle; });
  memory.remove_all_of(handle);
  contexts.take(handle);
  return true;
}

CUresult Driver::retain_primary(CUcontext& context) {
  const std::lock_guard guard(primary_lock_);
  if (!primary_) primary_ = make_context(primary_flags_, true);
  ++primary_users_;
  context = primary_->handle();
  return CUDA_SUCCESS;
}

CUresult Driver::release_primary() {
  std::shared_ptr<Context> last;
  {
    const std::lock_guard guard(primary_lock_);
    if (primary_users_ == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--primary_users_ == 0) last = std::exchange(primary_, nullptr);
  }
  if (last) end_context(*last);
  return CUDA_SUCCESS;
}

CUresult Driver::reset_primary() {
  std::shared_ptr<Context> reset;
  {
    const std::lock_guard guard(primary_lock_);
    reset = std::exchange(primary_, nullptr);  // who has retained it still has to release it
    primary_flags_ = CU_CTX_SCHED_AUTO;
  }
  if (reset) end_context(*reset);
  return CUDA_SUCCESS;
}

CUresult Driver::set_primary_flags(unsigned flags) {
  const std::lock_guard guard(primary_lock_);
  primary_flags_ = flags;
  if (primary_) primary_->set_flags(flags);
  return CUDA_SUCCESS;
}

void Driver::primary_state(unsigned& flags, bool& active) const {
  const std::lock_guard guard(primary_lock_);
  flags = primary_flags_;
  active = primary_ != nullptr;
}

}  // namespace fairgv::softcuda
