#include "runtime/vgpu/cuda/end_watcher.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "runtime/ring/doorbell.hpp"
#include "runtime/vgpu/cuda/current_context.hpp"
#include "runtime/vgpu/cuda/objects.hpp"

namespace fairgv::vgpu::cuda {
namespace {

using Clock = std::chrono::steady_clock;

/// A program that waits for its kernel sends the next one sooner than a thread wakes up.
constexpr std::chrono::microseconds kPatience{200};

/// Longer than turns: the end of a longer command is seen late by half a per cent at most.
constexpr std::chrono::milliseconds kEager{20};
constexpr std::chrono::microseconds kDoze{50};

}  // namespace

EndWatcher::Duration EndWatcher::usual_eagerness() {
  const bool many = ring::SpinBudget::usable_cpus() >= ring::SpinBudget::kManyCpus;
  return many ? Duration(kEager) : Duration::zero();
}

EndWatcher::EndWatcher(const Functions& driver, Duration eager)
    : driver_(driver), eager_(eager), thread_([this] { run(); }) {}

EndWatcher::~EndWatcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true, std::memory_order_relaxed);
  }
  changed_.notify_one();
  thread_.join();
  for (const Line& line : lines_) given_.insert(given_.end(), line.ends.begin(), line.ends.end());
  for (const End& end : given_) end.stream->spare_ends.push_back(end.event);
}

CUresult EndWatcher::watch(Stream& stream, CUstreamCallback callback, void* subject) {
  CUevent event = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!stream.spare_ends.empty()) {
      event = stream.spare_ends.back();
      stream.spare_ends.pop_back();
    }
  }
  CUresult code = CUDA_SUCCESS;
  if (event == nullptr) {
    code = use(driver_, stream.context->handle);
    if (code == CUDA_SUCCESS) code = driver_.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    if (code != CUDA_SUCCESS) return code;
  }
  code = driver_.cuEventRecord(event, stream.handle);
  const std::lock_guard lock(mutex_);
  if (code != CUDA_SUCCESS) {
    stream.spare_ends.push_back(event);
    return code;
  }
  given_.push_back({&stream, event, callback, subject, stream.context->prints});
  is_given_.store(true, std::memory_order_relaxed);
  if (is_asleep_) changed_.notify_one();
  return CUDA_SUCCESS;
}

void EndWatcher::run() {
  Clock::time_point last = Clock::now();  // when something was given, or had ended
  while (!stopping_.load(std::memory_order_relaxed)) {
    const bool given = take_given();
    const bool ended = look();
    const Clock::time_point now = Clock::now();
    if (given || ended) {
      last = now;
      continue;
    }
    if (lines_.empty() && now - last > kPatience) {
      sleep();
      last = Clock::now();
    } else if (now - last >= eager_) {
      std::this_thread::sleep_for(kDoze);
    } else {
      ring::detail::pause();
    }
  }
}

bool EndWatcher::take_given() {
  if (!is_given_.load(std::memory_order_relaxed)) return false;
  std::vector<End> given;
  {
    const std::lock_guard lock(mutex_);
    given.swap(given_);
    is_given_.store(false, std::memory_order_relaxed);
  }
  for (const End& end : given) {
    auto line = std::ranges::find(lines_, end.stream, &Line::stream);
    if (line == lines_.end()) line = lines_.insert(line, {end.stream, {}});
    line->ends.push_back(end);
  }
  return !given.empty();
}

bool EndWatcher::look() {
  bool any = false;
  for (Line& line : lines_) any = look_at(line) || any;
  std::erase_if(lines_, [](const Line& line) { return line.ends.empty(); });
  return any;
}

bool EndWatcher::look_at(Line& line) {
  bool any = false;
  while (!line.ends.empty()) {
    const End end = line.ends.front();
    CUresult code = use(driver_, end.stream->context->handle);
    if (code == CUDA_SUCCESS) code = driver_.cuEventQuery(end.event);
    if (code == CUDA_ERROR_NOT_READY) break;
    if (end.prints && code == CUDA_SUCCESS) code = print(end);
    line.ends.pop_front();
    // Once told, the context's owner may destroy it, and then it must not be current anywhere.
    if (line.ends.empty()) use(driver_, nullptr);
    const CUstream handle = end.stream->handle;
    {
      const std::lock_guard lock(mutex_);
      end.stream->spare_ends.push_back(end.event);
    }
    end.callback(handle, code, end.subject);
    any = true;
  }
  return any;
}

/// The driver prints the output of kernels when it is asked to wait, not when an event is looked at (CUDA C++
/// Programming Guide, "Formatted Output").
CUresult EndWatcher::print(const End& end) {
  const CUresult code = driver_.cuEventSynchronize(end.event);  // the event has come already
  std::fflush(stdout);
  return code;
}

void EndWatcher::sleep() {
  std::unique_lock lock(mutex_);
  is_asleep_ = true;
  changed_.wait(lock, [this] { return stopping_.load(std::memory_order_relaxed) || !given_.empty(); });
  is_asleep_ = false;
}

}  // namespace fairgv::vgpu::cuda
