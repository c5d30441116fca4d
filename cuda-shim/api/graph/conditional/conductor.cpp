#include "cuda-shim/api/graph/conditional/conductor.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "cuda-shim/api/driver.hpp"
#include "cuda-shim/api/graph/conditional/body_step.hpp"
#include "cuda-shim/api/graph/conditional/choice.hpp"
#include "cuda-shim/api/shared/signal.hpp"
#include "runtime/base/signals_blocked.hpp"

namespace fairgv::cuda {
namespace {

/// Threads that are kept for the next launch.
constexpr std::size_t kMostIdle = 2;
/// For bodies that run at the process' end; the engine waits for longer ones.
constexpr std::chrono::seconds kPatience{1};

}  // namespace

struct Conductor::Run {
  std::shared_ptr<StreamGroup> group;
  ConditionalPlan plan;
  std::shared_ptr<Operation> arrived;  // the node's turn has come
  std::shared_ptr<Stream> bodies;      // the stream that they run in
  std::shared_ptr<Signal> done;
  /// Sequentially consistent, as Conductor::stopping_ behind its lock: set by give_up() and stop().
  std::atomic<bool> is_given_up{false};
  bool is_conducted = false;  // guarded by the conductor's lock
  // Of the thread that conducts it:
  bool has_failed = false;
  bool is_behind = false;  // commands have been put into `bodies` since its end was seen
  std::uint64_t late_errors = 0;
};

CUresult Conductor::enqueue(const std::shared_ptr<Stream>& stream, ConditionalPlan plan) {
  const auto run = std::make_shared<Run>();
  run->group = stream->group();
  run->plan = std::move(plan);
  run->done = std::make_shared<Signal>();
  run->bodies = driver_.scheduler.make_stream(stream->group(), StreamKind::independent,
                                              CU_STREAM_NON_BLOCKING, stream->priority());
  run->arrived = driver_.scheduler.mark(stream, nullptr);
  const std::lock_guard guard(lock_);
  if (stopping_) return CUDA_ERROR_DEINITIALIZED;
  const auto lane = lanes_.try_emplace(stream->id()).first;
  const bool is_first = lane->second.empty();
  CUresult code = CUDA_SUCCESS;
  if (is_first && !has_thread_for_one_more()) code = CUDA_ERROR_OPERATING_SYSTEM;
  // With the lock, so that nodes are in the stream in the order in which they are in the lane.
  if (code == CUDA_SUCCESS) code = driver_.scheduler.hold(stream, run->done);
  if (code != CUDA_SUCCESS) {
    if (is_first) lanes_.erase(lane);
    driver_.scheduler.forget(run->bodies);
    return code;
  }
  lane->second.push_back(run);
  if (is_first) {
    unserved_.push_back(stream->id());
    wanted_.notify_one();
  }
  return CUDA_SUCCESS;
}

/// With the lock.
bool Conductor::has_thread_for_one_more() {
  if (idle_ > unserved_.size()) return true;
  const SignalsBlocked blocked;  // the program's signals are left to its own threads
  try {
    std::thread([this] { serve(); }).detach();
    ++threads_;
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void Conductor::serve() {
  std::unique_lock guard(lock_);
  while (!stopping_) {
    if (unserved_.empty() && idle_ >= kMostIdle) break;
    ++idle_;
    wanted_.wait(guard, [this] { return stopping_ || !unserved_.empty(); });
    --idle_;
    if (stopping_) break;
    const std::uint64_t stream = unserved_.front();
    unserved_.pop_front();
    serve_lane(guard, stream);
  }
  --threads_;
  changed_.notify_all();
}

/// With the lock, which is released meanwhile.
void Conductor::serve_lane(std::unique_lock<std::mutex>& guard, std::uint64_t stream) {
  while (!stopping_) {
    auto run = lanes_.at(stream).front();
    guard.unlock();
    run->arrived->wait();
    guard.lock();
    if (stopping_) return;
    run->is_conducted = true;
    guard.unlock();
    conduct(*run);
    guard.lock();
    run->is_conducted = false;
    changed_.notify_all();
    if (stopping_) return;  // what is behind the node is not to run
    guard.unlock();
    run->done->set();
    guard.lock();
    Lane& lane = lanes_.at(stream);
    lane.pop_front();
    const bool is_last = lane.empty();
    if (is_last) lanes_.erase(stream);
    if (is_last) return;
  }
}

bool Conductor::is_over(const Run& run) const {
  return run.has_failed || run.is_given_up.load(std::memory_order_seq_cst) ||
         run.group->fault() != CUDA_SUCCESS || driver_.scheduler.late_errors() != run.late_errors;
}

void Conductor::conduct(Run& run) {
  CUresult code = CUDA_SUCCESS;
  try {
    run.late_errors = driver_.scheduler.late_errors();
    perform(run, run.plan);
    settle(run);
    driver_.scheduler.forget(run.bodies);
  } catch (const std::bad_alloc&) {
    code = CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    code = CUDA_ERROR_UNKNOWN;
  }
  if (code != CUDA_SUCCESS) driver_.scheduler.fail(*run.group, code);
  run.plan = {};  // may free memory
}

/// Waits for the commands of bodies.
void Conductor::settle(Run& run) {
  if (!std::exchange(run.is_behind, false)) return;
  driver_.scheduler.mark(run.bodies, nullptr)->wait();
}

void Conductor::perform(Run& run, const ConditionalPlan& plan) {
  do {
    settle(run);
    if (is_over(run)) return;
    const auto body = chosen_body(plan.type, plan.bodies.size(), plan.condition->value());
    if (!body) return;
    for (const BodyStep& step : plan.bodies[*body]) {
      if (step.conditional) {
        perform(run, *step.conditional);
        if (is_over(run)) return;
        continue;
      }
      run.is_behind = true;
      const CUresult code = enqueue_step(driver_, run.bodies, step.work, step.places, step.detour);
      if (code == CUDA_SUCCESS) continue;
      run.has_failed = true;
      driver_.scheduler.fail(*run.group, code);
      return;
    }
  } while (plan.type == CU_GRAPH_COND_TYPE_WHILE);
}

void Conductor::give_up(CUcontext context) {
  std::unique_lock guard(lock_);
  const auto is_of_it = [context](const std::shared_ptr<Run>& run) { return run->group->owner() == context; };
  for (const auto& [stream, lane] : lanes_) {
    for (const auto& run : lane) {
      if (is_of_it(run)) run->is_given_up.store(true, std::memory_order_seq_cst);
    }
  }
  changed_.wait(guard, [&] {
    return std::ranges::none_of(lanes_, [&](const auto& lane) {
      return lane.second.front()->is_conducted && is_of_it(lane.second.front());
    });
  });
}

void Conductor::stop() {
  std::unique_lock guard(lock_);
  stopping_ = true;
  wanted_.notify_all();
  for (const auto& [stream, lane] : lanes_) {
    for (const auto& run : lane) run->is_given_up.store(true, std::memory_order_seq_cst);
  }
  changed_.wait_for(guard, kPatience, [this] {
    return std::ranges::none_of(lanes_, [](const auto& lane) { return lane.second.front()->is_conducted; });
  });
}

}  // namespace fairgv::cuda
