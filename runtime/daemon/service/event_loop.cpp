#include "runtime/daemon/service/event_loop.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <utility>

namespace fairgv::daemon {
namespace {

int milliseconds_until(std::optional<EventLoop::Time> deadline) {
  if (!deadline) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now()).count();
  // A deadline beyond a day is looked at again after a day.
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 86'400'000));
}

}  // namespace

EventLoop::Watch& EventLoop::Watch::operator=(Watch&& other) noexcept {
  if (this != &other) {
    reset();
    loop_ = std::exchange(other.loop_, nullptr);
    fd_ = other.fd_;
    key_ = other.key_;
  }
  return *this;
}

void EventLoop::Watch::reset() {
  if (loop_ == nullptr) return;
  ::epoll_ctl(loop_->epoll_.get(), EPOLL_CTL_DEL, fd_, nullptr);
  loop_->callbacks_.erase(key_);
  loop_ = nullptr;
}

Result<std::unique_ptr<EventLoop>> EventLoop::create() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return system_error("cannot make an event loop");
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(epoll)));
}

Result<EventLoop::Watch> EventLoop::watch(int fd, Callback callback, Ready ready) {
  epoll_event event{};
  event.events = ready == Ready::read ? EPOLLIN | EPOLLRDHUP : EPOLLOUT;
  event.data.u64 = ++last_key_;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return system_error("cannot watch a descriptor");
  callbacks_[last_key_] = std::make_shared<Callback>(std::move(callback));
  return Watch(this, fd, last_key_);
}

void EventLoop::wait(std::optional<Time> deadline) {
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 milliseconds_until(deadline));
  for (int i = 0; i < count; ++i) {
    // A copy: the kernel's record is packed, and a reference to its field may be misaligned.
    const std::uint64_t key = events[static_cast<std::size_t>(i)].data.u64;
    const auto found = callbacks_.find(key);
    if (found == callbacks_.end()) continue;  // removed by a callback before it
    const std::shared_ptr<Callback> keep = found->second;
    (*keep)();
  }
}

}  // namespace fairgv::daemon
