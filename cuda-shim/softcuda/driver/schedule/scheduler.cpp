#include "cuda-shim/softcuda/driver/schedule/scheduler.hpp"

#include <utility>

namespace fairgv::cuda::soft {
namespace {

CUresult wait_for_all(const std::vector<std::shared_ptr<Operation>>& operations, const StreamGroup& group) {
  for (const auto& operation : operations) {
    if (!operation->is_held()) operation->wait();
  }
  return group.fault();
}

}  // namespace

void Operation::wait_for(State wanted) const {
  // The wait pairs with notify_all() in make_runnable() and complete().
  for (int now = state_.load(std::memory_order_acquire); now < wanted;
       now = state_.load(std::memory_order_acquire)) {
    state_.wait(now, std::memory_order_acquire);
  }
}

std::shared_ptr<StreamGroup> Scheduler::make_group(CUcontext owner) {
  auto group = std::make_shared<StreamGroup>(owner);
  const std::lock_guard guard(lock_);
  group->legacy_ = std::make_shared<Stream>(group, StreamKind::legacy, 0U, kLeastPriority, next_stream_id_++);
  return group;
}

std::shared_ptr<Stream> Scheduler::make_stream(const std::shared_ptr<StreamGroup>& group, StreamKind kind,
                                               unsigned flags, int priority) {
  const std::lock_guard guard(lock_);
  auto stream = std::make_shared<Stream>(group, kind, flags, priority, next_stream_id_++);
  group->streams_.push_back(stream);
  return stream;
}

void Scheduler::forget(const std::shared_ptr<Stream>& stream) {
  // The legacy stream still has to wait for the stream's work, so the stream leaves the group when that is
  // done.
  const auto group = std::static_pointer_cast<StreamGroup>(stream->group());
  submit(
      *stream,
      [this, stream, group] {
        const std::lock_guard guard(lock_);
        std::erase(group->streams_, stream);
        return CUDA_SUCCESS;
      },
      {}, true);
}

void Scheduler::dissolve(StreamGroup& group) {
  std::vector<std::shared_ptr<Stream>> streams;
  const std::lock_guard guard(lock_);
  streams.swap(group.streams_);
  for (const auto& stream : streams) stream->last_.reset();
  group.legacy_->last_.reset();
  // The group and its streams hold each other until here. A thread that still has a stream finds it idle.
  group.legacy_ = std::make_shared<Stream>(nullptr, StreamKind::legacy, 0U, kLeastPriority, 0U);
}

Scheduler::Operations Scheduler::held_by(const Stream& stream) const {
  Operations held;
  if (stream.last_ && !stream.last_->done()) held.push_back(stream.last_);
  const StreamGroup& group = stream.own_group();
  if (stream.kind() == StreamKind::legacy) {
    for (const auto& other : group.streams_) {
      if (other->kind() == StreamKind::blocking && other->last_ && !other->last_->done()) {
        held.push_back(other->last_);
      }
    }
  } else if (stream.kind() == StreamKind::blocking && group.legacy_->last_ && !group.legacy_->last_->done()) {
    held.push_back(group.legacy_->last_);
  }
  return held;
}

/// With the lock.
void Scheduler::add(Stream& stream, const std::shared_ptr<Operation>& operation,
                    std::span<const std::shared_ptr<Operation>> behind) {
  operation->group_ = std::static_pointer_cast<StreamGroup>(stream.group());
  operation->level_ = stream.priority() - kGreatestPriority;
  Operations before = held_by(stream);
  for (const auto& other : behind) {
    if (other && !other->done()) before.push_back(other);
  }
  for (const auto& other : before) {
    const bool is_queued_behind = operation->begin_ && other == stream.last_ && other->stream_;
    if (is_queued_behind && other->is_begun_ && stream.begun_ < kMostBegun) continue;
    ++operation->waits_for_;
    if (is_queued_behind && other->is_begun_) {
      stream.for_room_ = operation;
    } else if (is_queued_behind) {
      other->follower_ = operation;
    } else {
      other->successors_.push_back(operation);
    }
  }
  if (!operation->is_prompt_) stream.last_ = operation;
}

std::shared_ptr<Operation> Scheduler::submit(Stream& stream, Work work,
                                             std::span<const std::shared_ptr<Operation>> behind,
                                             bool despite_fault, bool is_programs) {
  auto operation = std::make_shared<Operation>();
  operation->work_ = std::move(work);
  operation->despite_fault_ = despite_fault;
  operation->is_programs_ = is_programs;
  std::unique_lock guard(lock_);
  add(stream, operation, behind);
  if (operation->waits_for_ == 0) settle(guard, make_runnable(operation));
  return operation;
}

std::shared_ptr<Operation> Scheduler::submit(std::shared_ptr<Stream> stream, Begin begin_work, bool held) {
  auto operation = std::make_shared<Operation>();
  operation->begin_ = std::move(begin_work);
  operation->is_held_.store(held, std::memory_order_relaxed);
  Stream& to = *stream;
  operation->stream_ = std::move(stream);
  {
    std::unique_lock guard(lock_);
    add(to, operation, {});
    if (operation->waits_for_ != 0) return operation;
    enter(guard);
  }
  begin(operation);
  return operation;
}

bool Scheduler::has_begun(const Stream& stream) const {
  const std::lock_guard guard(lock_);
  return stream.begun_ != 0;
}

void Scheduler::submit_prompt(Stream& stream, std::function<void(CUresult)> function) {
  auto operation = std::make_shared<Operation>();
  operation->work_ = [group = stream.group(), function = std::move(function)] {
    function(group->fault());
    return CUDA_SUCCESS;
  };
  operation->is_prompt_ = true;
  std::unique_lock guard(lock_);
  add(stream, operation, {});
  if (operation->waits_for_ == 0) settle(guard, make_runnable(operation));
}

CUresult Scheduler::run(Stream& stream, Work work) {
  auto operation = std::make_shared<Operation>();
  operation->by_caller_ = true;
  {
    const std::lock_guard guard(lock_);
    add(stream, operation, {});
    if (operation->waits_for_ == 0) make_runnable(operation);
  }
  operation->wait_for(Operation::kRunnable);
  {
    std::unique_lock guard(lock_);
    enter(guard);
  }
  const CUresult fault = operation->group_->fault();
  const CUresult result = fault != CUDA_SUCCESS ? fault : perform(work);
  work = nullptr;
  std::unique_lock guard(lock_);
  leave();
  settle(guard, complete(operation, result));
  return result;
}

/// With the lock. Returns the operation that may begin because this operation of its stream has begun; null:
/// there is none, or the queue has no room.
std::shared_ptr<Operation> Scheduler::take_follower(Operation& operation, Stream& stream) {
  auto follower = std::exchange(operation.follower_, nullptr);
  if (follower && operation.is_begun_ && stream.begun_ >= kMostBegun) {
    stream.for_room_ = std::move(follower);
    return nullptr;
  }
  return follower && --follower->waits_for_ == 0 ? follower : nullptr;
}

/// Without the lock, after enter(). Begins an operation, and the operations that only waited for its begin.
void Scheduler::begin(std::shared_ptr<Operation> operation) {
  while (operation) {
    // The operation may end on another thread before begin_work() returns.
    const Begin begin_work = std::exchange(operation->begin_, nullptr);
    const auto stream = operation->stream_;
    const CUresult fault = operation->group_->fault();
    const CUresult code =
        fault != CUDA_SUCCESS ? fault : perform([&] { return begin_work(*stream, operation); });
    std::unique_lock guard(lock_);
    leave();
    if (code != CUDA_SUCCESS) {
      if (fault == CUDA_SUCCESS) operation->group_->set_fault(code);
      settle(guard, complete(operation, code));
      return;
    }
    if (!operation->done()) {
      operation->is_begun_ = true;
      ++stream->begun_;
      ++on_device_;
    }
    operation = take_follower(*operation, *stream);
    if (operation) enter(guard);
  }
}

void Scheduler::ended(const std::shared_ptr<Operation>& operation, CUresult result) {
  if (result != CUDA_SUCCESS) operation->group_->set_fault(result);
  std::unique_lock guard(lock_);
  settle(guard, complete(operation, result));
}

/// With the lock, which is released meanwhile. Wakes executors for `runnable` operations, and runs the prompt
/// functions.
void Scheduler::settle(std::unique_lock<std::mutex>& guard, std::size_t runnable) {
  wake(runnable);
  while (!prompt_.empty()) {
    const auto operation = std::move(prompt_.back());
    prompt_.pop_back();
    guard.unlock();
    const CUresult result = perform(operation->work_);
    operation->work_ = nullptr;
    guard.lock();
    wake(complete(operation, result));
  }
}

/// With the lock. Markers are done at once, and operations that waited only for them become runnable in turn.
/// This is a loop, because a chain of markers may be long. Returns how many operations joined the executors'
/// queue.
std::size_t Scheduler::make_runnable(std::shared_ptr<Operation> operation) {
  if (operation->by_caller_) {
    operation->state_.store(Operation::kRunnable, std::memory_order_release);
    operation->state_.notify_all();
    return 0;
  }
  if (operation->is_prompt_) {
    prompt_.push_back(std::move(operation));
    return 0;
  }
  if (operation->test_) {
    return is_over_or_watched(operation) ? complete(operation, operation->group_->fault()) : 0;
  }
  if (!operation->work_ && !operation->begin_) return complete(operation, operation->group_->fault());
  runnable_.at(static_cast<std::size_t>(operation->level_)).push_back(std::move(operation));
  ++runnable_count_;
  return 1;
}

/// With the lock. Returns how many operations joined the executors' queue.
std::size_t Scheduler::complete(const std::shared_ptr<Operation>& operation, CUresult result) {
  std::size_t runnable = 0;
  Operations completed{operation};
  operation->result_ = result;
  while (!completed.empty()) {
    const auto current = std::move(completed.back());
    completed.pop_back();
    current->finished_at_ = Clock::now();
    Operations successors = std::exchange(current->successors_, {});
    if (current->follower_) successors.push_back(std::exchange(current->follower_, nullptr));
    if (std::exchange(current->is_begun_, false)) {
      if (--on_device_ == 0 && stopping_) threads_changed_.notify_all();
      Stream& stream = *current->stream_;
      if (--stream.begun_ <= kRoomForMany && stream.for_room_) {
        successors.push_back(std::exchange(stream.for_room_, nullptr));
      }
    }
    current->stream_.reset();  // which holds the operation
    current->state_.store(Operation::kDone, std::memory_order_release);
    current->state_.notify_all();
    for (const auto& next : successors) {
      if (--next->waits_for_ != 0) continue;
      if (!next->by_caller_ && !next->work_ && !next->begin_) {
        if (next->test_ && !is_over_or_watched(next)) continue;
        next->result_ = next->group_->fault();
        completed.push_back(next);
      } else {
        runnable += make_runnable(next);
      }
    }
  }
  if (is_quiet_) quiet_changed_.notify_all();
  return runnable;
}

CUresult Scheduler::synchronize(Stream& stream) {
  Operations held;
  {
    const std::lock_guard guard(lock_);
    held = held_by(stream);
  }
  return wait_for_all(held, stream.own_group());
}

CUresult Scheduler::synchronize(StreamGroup& group) {
  Operations held;
  {
    const std::lock_guard guard(lock_);
    if (group.legacy_->last_) held.push_back(group.legacy_->last_);
    for (const auto& stream : group.streams_) {
      if (stream->last_) held.push_back(stream->last_);
    }
  }
  return wait_for_all(held, group);
}

CUresult Scheduler::query(Stream& stream) {
  const CUresult fault = stream.own_group().fault();
  if (fault != CUDA_SUCCESS) return fault;
  const std::lock_guard guard(lock_);
  return held_by(stream).empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

}  // namespace fairgv::cuda::soft
