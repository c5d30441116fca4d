#include "cuda-shim/driver/connection.hpp"

#include <new>
#include <utility>

#include "runtime/session/client/standard_error.hpp"
#include "runtime/wire/calls/cuda/facts.hpp"

namespace fairgv::cuda::remote {

CUresult Connection::fault() {
  const std::uint64_t late = session_->late_error();
  if (late != 0) {
    const auto code = static_cast<CUresult>(ring::LateError::code(late));
    if (wire::cuda::is_sticky(code)) return code;
  }
  if (const int failure = failure_.load(std::memory_order_relaxed); failure != CUDA_SUCCESS) [[unlikely]]
    return static_cast<CUresult>(failure);
  if (!session_->lost()) [[likely]]
    return CUDA_SUCCESS;
  note_loss();
  return static_cast<CUresult>(loss_.load(std::memory_order_relaxed));
}

CUresult Connection::outcome() {
  if (const CUresult code = fault(); code != CUDA_SUCCESS) return code;
  fetch_mirrors();
  const std::uint64_t late = session_->late_error();
  const std::uint32_t count = ring::LateError::count(late);
  std::uint32_t told = told_.load(std::memory_order_relaxed);
  if (count == told) [[likely]]
    return CUDA_SUCCESS;
  // The thread that changes the count reports the error.
  return told_.compare_exchange_strong(told, count, std::memory_order_relaxed)
             ? static_cast<CUresult>(ring::LateError::code(late))
             : CUDA_SUCCESS;
}

Mirrors& Connection::mirrors() {
  std::call_once(made_mirrors_, [this] {
    owned_mirrors_ = std::make_unique<Mirrors>(*this);
    mirrors_.store(owned_mirrors_.get(), std::memory_order_release);
  });
  return *owned_mirrors_;
}

void Connection::note_loss() {
  if (!session_->lost()) return;
  int none = CUDA_SUCCESS;
  const int code =
      has_work_.load(std::memory_order_relaxed) ? CUDA_ERROR_LAUNCH_FAILED : CUDA_ERROR_DEVICE_UNAVAILABLE;
  if (!loss_.compare_exchange_strong(none, code, std::memory_order_relaxed)) return;
  session::say(
      "the worker of this process is gone (fairgvd stopped, or the worker was killed): CUDA calls fail from "
      "now on; the daemon's log has the reason");
}

void Connection::settle_frees() {
  if (!session_->facts().memory_waits) return;
  const auto reply = call(wire::cuda::SettleFrees{});
  if (!reply) return;
  std::uint64_t known = frees_settled_.load(std::memory_order_relaxed);
  while (known < reply->freed &&
         !frees_settled_.compare_exchange_weak(known, reply->freed, std::memory_order_relaxed)) {
  }
}

std::int32_t Connection::wait(wire::EventId event) {
  const std::int32_t status = session_->wait(event);
  settle();
  return status;
}

wire::EventId Connection::new_event() {
  const wire::EventId event = session_->events().acquire();
  if (!event) throw std::bad_alloc();
  return event;
}

bool Connection::watch(wire::EventId event, std::int32_t status, std::function<void(std::int32_t)> function) {
  std::call_once(listening_, [this] {
    session_->set_notice_handler([this](const wire::EventReached& notice) { run(notice); },
                                 [this] { run_all_lost(); });
  });
  {
    const std::lock_guard guard(mutex_);
    watched_.emplace(event.raw, std::move(function));
  }
  if (send(wire::WatchEvent{event, status})) return true;
  // The entry is still here, or run_all_lost() has taken it.
  const std::lock_guard guard(mutex_);
  return watched_.erase(event.raw) == 0;
}

void Connection::run(const wire::EventReached& notice) {
  std::function<void(std::int32_t)> function;
  {
    const std::lock_guard guard(mutex_);
    const auto found = watched_.find(notice.event.raw);
    if (found == watched_.end()) return;
    function = std::move(found->second);
    watched_.erase(found);
  }
  settle();
  function(notice.status);
}

void Connection::run_all_lost() {
  std::unordered_map<std::uint64_t, std::function<void(std::int32_t)>> lost;
  {
    const std::lock_guard guard(mutex_);
    lost.swap(watched_);
  }
  for (const auto& [event, function] : lost) function(session::kDeviceNotAvailable);
}

}  // namespace fairgv::cuda::remote
