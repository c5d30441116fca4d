// An event descriptor by which one thread wakes another that waits for several things (epoll).
//
// Signals that come before the waiting thread has cleared it are one. May be used from any thread.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv::daemon {

class EventSignal {
 public:
  /// `whose`, for the Error.
  static Result<EventSignal> make(const std::string& whose) {
    UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!fd) return system_error("cannot make " + whose + " event descriptor");
    return EventSignal(std::move(fd));
  }

  /// Readable from raise() to clear().
  int fd() const { return fd_.get(); }
  void raise() const {
    const std::uint64_t one = 1;
    // Fails only when the counter is full: then it is readable anyway.
    [[maybe_unused]] const ssize_t written = ::write(fd_.get(), &one, sizeof(one));
  }
  void clear() const {
    std::uint64_t count = 0;
    // Non-blocking: nothing to read is fine.
    [[maybe_unused]] const ssize_t length = ::read(fd_.get(), &count, sizeof(count));
  }

 private:
  explicit EventSignal(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace fairgv::daemon
