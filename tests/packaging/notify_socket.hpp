// The end of sd_notify(3) at which a service manager sits.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <string>

#include "runtime/base/handle.hpp"

namespace fairgv::packaging {

inline sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

struct News {
  pid_t sender = 0;
  std::string text;  // lines

  bool says(const std::string& line) const {
    return ("\n" + text + "\n").find("\n" + line + "\n") != std::string::npos;
  }
};

class NotifySocket {
 public:
  /// `path` must not exist yet. Check ok().
  explicit NotifySocket(const std::string& path) : path_(path) {
    fd_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = address_of(path);
    const int on = 1;
    ok_ = ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
          ::setsockopt(fd_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0;
  }
  ~NotifySocket() { ::unlink(path_.c_str()); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  bool ok() const { return ok_; }
  const std::string& path() const { return path_; }

  /// The next news, or nothing when none comes in time.
  std::optional<News> next(std::chrono::milliseconds patience) const {
    pollfd readable{fd_.get(), POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(patience.count())) != 1) return std::nullopt;
    std::array<char, 4096> text{};
    iovec part{text.data(), text.size()};
    alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(sizeof(ucred))> space{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space.data();
    message.msg_controllen = space.size();
    const ssize_t length = ::recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC);
    if (length < 0) return std::nullopt;
    News news{0, std::string(text.data(), static_cast<std::size_t>(length))};
    for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr; each = CMSG_NXTHDR(&message, each)) {
      if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_CREDENTIALS) continue;
      ucred sender{};
      std::memcpy(&sender, CMSG_DATA(each), sizeof(sender));
      news.sender = sender.pid;
    }
    return news;
  }

  /// The first news that has this line; nothing if it does not come within a generous time.
  std::optional<News> wait_for(const std::string& line) const {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < give_up) {
      const auto news = next(std::chrono::seconds(1));
      if (news && news->says(line)) return news;
    }
    return std::nullopt;
  }

 private:
  std::string path_;
  UniqueFd fd_;
  bool ok_ = false;
};

}  // namespace fairgv::packaging
