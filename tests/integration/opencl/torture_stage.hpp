// The state that the threads of torture_test.cpp share: queues, each other's events, counts of callbacks.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test::torture {

inline EventHandle share(cl_event event) {
  clRetainEvent(event);
  return EventHandle(event);
}

/// Callbacks that were registered, and callbacks that ran.
struct Calls {
  std::atomic<int> expected{0}, seen{0}, wrong{0};

  bool all_seen() const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (seen.load() < expected.load() && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return seen.load() == expected.load();
  }
};

inline void CL_CALLBACK on_event(cl_event event, cl_int status, void* calls) {
  auto& to = *static_cast<Calls*>(calls);
  cl_uint references = 0;
  const bool right = status == CL_COMPLETE && clRetainEvent(event) == CL_SUCCESS &&
                     clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(references), &references,
                                    nullptr) == CL_SUCCESS &&
                     references > 0 && clReleaseEvent(event) == CL_SUCCESS;
  if (!right) to.wrong.fetch_add(1);
  to.seen.fetch_add(1);
}

/// The object is gone already; other calls are still allowed.
inline void CL_CALLBACK on_destroyed(cl_mem, void* calls) {
  cl_uint platforms = 0;
  if (clGetPlatformIDs(0, nullptr, &platforms) != CL_SUCCESS) static_cast<Calls*>(calls)->wrong.fetch_add(1);
  static_cast<Calls*>(calls)->seen.fetch_add(1);
}

/// Events of all threads, for others to wait for.
class Exchange {
 public:
  void offer(cl_event event, std::size_t place) {
    EventHandle old = share(event);  // released outside the lock
    const std::lock_guard lock(mutex_);
    std::swap(events_[place % events_.size()], old);
  }
  EventHandle take(std::size_t place) {
    const std::lock_guard lock(mutex_);
    const EventHandle& event = events_[place % events_.size()];
    return event != nullptr ? share(event) : EventHandle();
  }

 private:
  std::mutex mutex_;
  std::array<EventHandle, 32> events_;
};

struct Stage {
  cl_context context;
  cl_program program;
  std::vector<QueueHandle> queues;
  Exchange exchange;
  Calls event_calls, destructor_calls;
};

}  // namespace fairgv::test::torture
