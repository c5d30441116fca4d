// One thread that waits for many descriptors and calls back: the sockets' side of the daemon.
//
// Callbacks run one at a time in the thread that calls wait(). A callback may add and remove watches, its own
// included.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv::daemon {

class EventLoop {
 public:
  using Callback = std::function<void()>;
  using Time = std::chrono::steady_clock::time_point;

  /// While it lives, the callback runs whenever the descriptor is ready or its peer has hung up. Must not
  /// outlive the loop; destroy it before the descriptor is closed.
  class Watch {
   public:
    Watch() = default;
    ~Watch() { reset(); }
    Watch(Watch&& other) noexcept { *this = std::move(other); }
    Watch& operator=(Watch&& other) noexcept;
    void reset();

   private:
    friend class EventLoop;
    Watch(EventLoop* loop, int fd, std::uint64_t key) : loop_(loop), fd_(fd), key_(key) {}
    EventLoop* loop_ = nullptr;
    int fd_ = -1;
    std::uint64_t key_ = 0;
  };

  static Result<std::unique_ptr<EventLoop>> create();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  enum class Ready { read, write };
  /// `ready`: what it waits for. A peer that has closed only its own direction counts for readers.
  Result<Watch> watch(int fd, Callback callback, Ready ready = Ready::read);
  /// Sleeps until something happens or the deadline has passed, and runs the callbacks.
  void wait(std::optional<Time> deadline);

 private:
  explicit EventLoop(UniqueFd epoll) : epoll_(std::move(epoll)) {}

  UniqueFd epoll_;
  std::uint64_t last_key_ = 0;  // never used twice, unlike a descriptor: a stale event finds nothing
  std::unordered_map<std::uint64_t, std::shared_ptr<Callback>> callbacks_;
};

}  // namespace fairgv::daemon
