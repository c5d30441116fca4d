#include "runtime/daemon/service/service_manager.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#include <cstddef>
#include <cstring>
#include <ctime>
#include <utility>

namespace fairgv::daemon {
namespace {

/// Of each limit: one look that comes late is no death.
constexpr int kLooksPerLimit = 4;

void tell(const std::string& news) {
  // If the message fails, there is nobody to report that to.
  (void)::sd_notify(0, news.c_str());
}

std::string status_line(std::string_view status) {
  return "STATUS=" + std::string(status);
}

/// systemd compares this time with the moment at which it asked for the reload.
std::string monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
  return std::to_string(microseconds.count());
}

Result<std::string> path_of(int fd) {
  sockaddr_un address{};
  socklen_t size = sizeof(address);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return system_error("cannot tell where the service manager's socket is");
  }
  const std::size_t length = size <= offsetof(sockaddr_un, sun_path)
                                 ? 0
                                 : ::strnlen(address.sun_path, size - offsetof(sockaddr_un, sun_path));
  if (length == 0) {
    return Error{"the service manager's socket has no path: give ListenSequentialPacket= of its unit one"};
  }
  return std::string(address.sun_path, length);
}

}  // namespace

Result<std::optional<ActivatedSocket>> take_activated_socket() {
  const int count = ::sd_listen_fds(1);
  if (count == 0) return std::optional<ActivatedSocket>();
  if (count < 0) return system_error("cannot take the service manager's sockets", -count);
  constexpr const char* kAdvice =
      ": the unit fairgvd.socket must have one ListenSequentialPacket= and no other socket";
  if (count > 1)
    return Error{"the service manager has passed " + std::to_string(count) + " sockets" + kAdvice};
  UniqueFd fd(SD_LISTEN_FDS_START);
  if (::sd_is_socket(fd.get(), AF_UNIX, SOCK_SEQPACKET, 1) <= 0) {
    return Error{std::string("the service manager has passed no listening socket that keeps packets whole") +
                 kAdvice};
  }
  FAIRGV_TRY(path, path_of(fd.get()));
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0 ||
      ::fcntl(fd.get(), F_SETFD, FD_CLOEXEC) != 0) {
    return system_error("cannot use the service manager's socket");
  }
  return std::optional(ActivatedSocket{std::move(fd), std::move(path).value()});
}

Result<void> check_access(const ActivatedSocket& socket, std::optional<gid_t> group) {
  if (!group) return {};
  struct stat found {};
  if (::stat(socket.path.c_str(), &found) != 0) return system_error("cannot look at " + socket.path);
  if (found.st_gid == *group && (found.st_mode & (S_IROTH | S_IWOTH)) == 0) return {};
  return Error{socket.path + " is open to others than the group of [daemon]: set SocketGroup= to it and " +
               "SocketMode=0660 in fairgvd.socket (systemctl edit fairgvd.socket)"};
}

void tell_ready(std::string_view status) {
  tell("READY=1\n" + status_line(status));
}

void tell_status(std::string_view status) {
  tell(status_line(status));
}

void tell_stopping() {
  tell("STOPPING=1");
}

void tell_alive() {
  tell("WATCHDOG=1");
}

ReloadNotice::ReloadNotice() {
  tell("RELOADING=1\nMONOTONIC_USEC=" + monotonic_now());
}

ReloadNotice::~ReloadNotice() {
  tell("READY=1");
}

Watchdog::Watchdog(std::optional<std::chrono::microseconds> limit) {
  if (!limit) return;
  interval_ = *limit / kLooksPerLimit;
  next_ = Time{};  // at once
}

Watchdog Watchdog::from_environment() {
  std::uint64_t limit = 0;
  if (::sd_watchdog_enabled(0, &limit) <= 0) return Watchdog(std::nullopt);
  return Watchdog(std::chrono::microseconds(limit));
}

bool Watchdog::look(Time now, std::uint64_t turns) {
  next_ = now + interval_;
  return std::exchange(turns_, turns) != turns;
}

}  // namespace fairgv::daemon
