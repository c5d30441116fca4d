#include "runtime/daemon/dispatch/wake_latency.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fairgv::daemon {

void WakeLatency::want(std::chrono::microseconds limit, Time now) {
  if (refused_) return;
  until_ = now + kHold;
  if (open_ && limit == limit_) return;
  limit_ = limit;
  if (ask(limit)) return;
  const int error = errno;
  refused_ = true;
  open_ = {};
  spdlog::warn("wake_latency_us: cannot write {}: {}; processors sleep as deeply as the system lets them",
               file_, std::strerror(error));
}

std::optional<WakeLatency::Time> WakeLatency::deadline() const {
  if (!open_) return std::nullopt;
  return until_;
}

void WakeLatency::end(Time now) {
  if (open_ && now >= until_) open_ = {};
}

bool WakeLatency::ask(std::chrono::microseconds limit) {
  if (!open_) open_ = UniqueFd(::open(file_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  if (!open_) return false;
  const auto value = static_cast<std::int32_t>(limit.count());
  return ::write(open_.get(), &value, sizeof(value)) == static_cast<ssize_t>(sizeof(value));
}

}  // namespace fairgv::daemon
