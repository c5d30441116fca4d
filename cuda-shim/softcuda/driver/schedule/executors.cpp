// The scheduler's threads: how they begin, what each does, and their end.
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "cuda-shim/softcuda/driver/schedule/scheduler.hpp"
#include "runtime/base/signals_blocked.hpp"

namespace fairgv::cuda::soft {

CUresult Scheduler::start() {
  const std::lock_guard guard(lock_);
  if (threads_ == 0) start_thread();
  return threads_ == 0 ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

/// With the lock.
void Scheduler::wake(std::size_t runnable) {
  for (; runnable > 0; --runnable) {
    if (runnable_count_ > idle_) {
      start_thread();
    } else {
      runnable_changed_.notify_one();
    }
  }
}

/// With the lock. False: no thread can be started.
bool Scheduler::start(void (Scheduler::*work)()) {
  const SignalsBlocked blocked;  // the application's signals are left to its own threads
  try {
    std::thread([this, work] { (this->*work)(); }).detach();
    ++threads_;
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void Scheduler::start_thread() {
  if (threads_ >= kMaxThreads || stopping_) return;
  // If it fails, the existing threads do the work, later; start() has made the first.
  start(&Scheduler::execute);
}

std::shared_ptr<Operation> Scheduler::take_runnable() {
  for (auto& level : runnable_) {
    if (level.empty()) continue;
    auto operation = std::move(level.front());
    level.pop_front();
    --runnable_count_;
    return operation;
  }
  return nullptr;
}

void Scheduler::execute() {
  std::unique_lock guard(lock_);
  for (;;) {
    ++idle_;
    runnable_changed_.wait(guard, [this] { return stopping_ || (runnable_count_ != 0 && !is_quiet_); });
    --idle_;
    if (stopping_) break;
    auto operation = take_runnable();
    const bool is_programs = operation->is_programs_;
    if (!is_programs) ++at_work_;
    guard.unlock();
    if (operation->begin_) {
      begin(std::move(operation));
      guard.lock();
      continue;
    }
    const CUresult fault = operation->group_->fault();
    const bool runs = fault == CUDA_SUCCESS || operation->despite_fault_;
    const CUresult result = runs ? perform(operation->work_) : fault;
    if (runs && result != CUDA_SUCCESS) operation->group_->set_fault(result);
    // The work's resources are released outside of the lock, and before the end is reported.
    operation->work_ = nullptr;
    guard.lock();
    if (!is_programs) leave();
    // This thread runs one of the operations itself.
    const std::size_t runnable = complete(operation, result);
    settle(guard, runnable > 1 ? runnable - 1 : 0);
    operation.reset();
  }
  --threads_;
  threads_changed_.notify_all();
}

CUresult Scheduler::perform(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

void Scheduler::shutdown(std::chrono::milliseconds patience) {
  std::unique_lock guard(lock_);
  stopping_ = true;
  runnable_changed_.notify_all();
  waits_changed_.notify_all();
  // Begun operations belong to the device: its threads compile and run them, and no thread here waits.
  threads_changed_.wait_for(guard, patience, [this] { return threads_ == 0 && on_device_ == 0; });
}

}  // namespace fairgv::cuda::soft
