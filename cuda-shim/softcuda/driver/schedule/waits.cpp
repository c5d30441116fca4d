// Waits for memory, and the thread that looks at them.
#include <algorithm>
#include <utility>

#include "cuda-shim/softcuda/driver/schedule/scheduler.hpp"

namespace fairgv::cuda::soft {
namespace {

/// The pause before the next look at waits of which none has ended for so long: a program that waits for long
/// can wait a little longer, and looking costs little.
Clock::duration pause_after(Clock::duration quiet) {
  constexpr Clock::duration kShortest = std::chrono::microseconds(20);
  constexpr Clock::duration kLongest = std::chrono::milliseconds(1);
  return std::clamp(quiet / 16, kShortest, kLongest);
}

}  // namespace

std::shared_ptr<Operation> Scheduler::submit_wait(Stream& stream, Test test) {
  auto operation = std::make_shared<Operation>();
  operation->test_ = std::move(test);
  std::unique_lock guard(lock_);
  add(stream, operation, {});
  if (operation->waits_for_ == 0) settle(guard, make_runnable(operation));
  return operation;
}

void Scheduler::give_up_waits(StreamGroup& group) {
  std::unique_lock guard(lock_);
  group.gives_up_waits_ = true;
  settle(guard, end_waits());
}

/// With the lock. After a fault no wait goes on: the work behind it is not run.
bool Scheduler::is_over(Operation& wait) {
  StreamGroup& group = *wait.group_;
  if (group.fault() != CUDA_SUCCESS || wait.test_()) return true;
  if (group.gives_up_waits_) group.set_fault(CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return group.gives_up_waits_;
}

/// With the lock. The turn of the wait has come. False: it is looked at from now on.
bool Scheduler::is_over_or_watched(const std::shared_ptr<Operation>& wait) {
  if (is_over(*wait)) return true;
  if (!has_watcher_ && !stopping_) has_watcher_ = start(&Scheduler::watch_waits);
  if (!has_watcher_ && !stopping_) {
    wait->group_->set_fault(CUDA_ERROR_OPERATING_SYSTEM);
    return true;
  }
  waits_.push_back(wait);
  waits_changed_.notify_one();
  return false;
}

/// With the lock. Returns how many operations joined the executors' queue.
std::size_t Scheduler::end_waits() {
  Operations over;
  std::erase_if(waits_, [&](const auto& wait) {
    const bool ends = is_over(*wait);
    if (ends) over.push_back(wait);
    return ends;
  });
  std::size_t runnable = 0;
  for (const auto& wait : over) runnable += complete(wait, wait->group_->fault());
  return runnable;
}

void Scheduler::watch_waits() {
  std::unique_lock guard(lock_);
  auto last = Clock::now();  // when a wait ended or came
  std::size_t watched = 0;
  while (!stopping_) {
    if (waits_.empty()) {
      waits_changed_.wait(guard, [this] { return stopping_ || !waits_.empty(); });
      watched = 0;
    }
    settle(guard, end_waits());
    if (std::exchange(watched, waits_.size()) != waits_.size()) last = Clock::now();
    if (!waits_.empty() && !stopping_) waits_changed_.wait_for(guard, pause_after(Clock::now() - last));
  }
  --threads_;
  threads_changed_.notify_all();
}

}  // namespace fairgv::cuda::soft
