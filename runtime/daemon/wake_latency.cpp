#include "runtime/daemon/wake_latency.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fairgv::daemon {

void WakeLatency::want(std::chrono::microseconds limit) {
  if (refused_) return;
  until_.reset();
  if (open_ && limit == limit_) return;
  limit_ = limit;
  if (ask(limit)) return;
  const int error = errno;
  refused_ = true;
  open_ = {};
  spdlog::warn("wake_latency_us: cannot write {}: {}; processors sleep as deeply as the system lets them",
               file_, std::strerror(error));
}

void WakeLatency::leave(Time now) {
  if (!open_) return;
  if (!until_) until_ = now + kHold;
  if (now >= *until_) end();
}

void WakeLatency::end() {
  open_ = {};
  until_.reset();
}

bool WakeLatency::ask(std::chrono::microseconds limit) {
  if (!open_) open_ = ring::UniqueFd(::open(file_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  if (!open_) return false;
  const auto value = static_cast<std::int32_t>(limit.count());
  return ::write(open_.get(), &value, sizeof(value)) == static_cast<ssize_t>(sizeof(value));
}

}  // namespace fairgv::daemon
