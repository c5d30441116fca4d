#include "runtime/base/socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace fairgv {
namespace {

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return Error{"the socket path '" + path + "' must have 1 to " +
                 std::to_string(sizeof(address.sun_path) - 1) + " characters: choose a shorter one"};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

void refuse_descriptors_at(int fd) {
  constexpr int kPassRights = 83;  // SO_PASSRIGHTS, younger than Debian 12's headers
  constexpr int kNo = 0;
  ::setsockopt(fd, SOL_SOCKET, kPassRights, &kNo, sizeof(kNo));
}

void take_descriptors(const msghdr& message, std::vector<UniqueFd>& into) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
       control = CMSG_NXTHDR(const_cast<msghdr*>(&message), control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof(int));
      into.emplace_back(fd);
    }
  }
}

}  // namespace

Result<void> check_socket_path(const std::string& path) {
  FAIRGV_CHECK(address_of(path));
  return {};
}

Error connect_error(const std::string& path, int code) {
  if (code == ENOENT || code == ECONNREFUSED) {
    return Error{"no FairGV daemon answers at " + path + " (" + std::strerror(code) +
                 "): start fairgvd, or let 'fairgv run' start one"};
  }
  if (code == EACCES || code == EPERM) {
    return Error{"no permission to connect to " + path +
                 ": ask its owner for access, or name another daemon with FAIRGV_SOCKET"};
  }
  return system_error("cannot connect to " + path, code);
}

Result<Socket> Socket::connect(const std::string& path, int* code) {
  if (code != nullptr) *code = ENAMETOOLONG;
  FAIRGV_TRY(address, address_of(path));
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (fd && ::connect(fd.get(), generic(address.value()), sizeof(sockaddr_un)) == 0) {
    return Socket(std::move(fd));
  }
  const int failure = errno;
  if (code != nullptr) *code = failure;
  return connect_error(path, failure);
}

Result<std::pair<Socket, Socket>> Socket::pair() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_error("cannot make a pair of sockets");
  }
  return std::pair(Socket(UniqueFd(ends[0])), Socket(UniqueFd(ends[1])));
}

Result<void> Socket::set_nonblocking() {
  const int flags = ::fcntl(fd_.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd_.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return system_error("cannot make a socket non-blocking");
  }
  return {};
}

void Socket::refuse_descriptors() const {
  refuse_descriptors_at(fd_.get());
}

Result<PeerCredentials> Socket::peer() const {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(fd_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return system_error("cannot tell who is at the other end of a socket");
  }
  return PeerCredentials{credentials.pid, credentials.uid, credentials.gid};
}

Result<void> Socket::send(std::string_view text, std::initializer_list<int> fds) const {
  if (text.size() > kMaxPacket || fds.size() > kMaxDescriptors) {
    return Error{"a packet of " + std::to_string(text.size()) + " bytes with " + std::to_string(fds.size()) +
                 " descriptors is too long to send"};
  }
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> space{};
  if (fds.size() != 0) {
    message.msg_control = space.data();
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* const control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(control), fds.begin(), fds.size() * sizeof(int));
  }
  for (;;) {
    if (::sendmsg(fd_.get(), &message, MSG_NOSIGNAL) >= 0) return {};
    if (errno != EINTR) return system_error("cannot send a packet");
  }
}

bool Socket::offer(std::string_view text) const {
  return text.size() <= kMaxPacket &&
         ::send(fd_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

Result<Packet> Socket::receive() const {
  alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> space{};
  return receive(space);
}

Result<Packet> Socket::receive_text() const {
  return receive(std::span<unsigned char>());
}

Result<Packet> Socket::receive(std::span<unsigned char> descriptors) const {
  Packet packet;
  packet.text.resize(kMaxPacket);
  iovec part{packet.text.data(), packet.text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = descriptors.data();
  message.msg_controllen = descriptors.size();
  ssize_t length = -1;
  do {
    length = ::recvmsg(fd_.get(), &message, MSG_CMSG_CLOEXEC);
  } while (length < 0 && errno == EINTR);
  if (length < 0) {
    const int code = errno;
    packet.text.clear();
    packet.kind = Packet::Kind::nothing;
    if (code == EAGAIN) return packet;
    packet.kind = Packet::Kind::closed;
    if (code == ECONNRESET || code == EPIPE) return packet;
    return system_error("cannot receive a packet", code);
  }
  take_descriptors(message, packet.fds);
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return Error{"a packet is longer than " + std::to_string(kMaxPacket) +
                 " bytes or carries too many descriptors"};
  }
  packet.text.resize(static_cast<std::size_t>(length));
  packet.kind = length == 0 ? Packet::Kind::closed : Packet::Kind::message;
  return packet;
}

Result<Listener> Listener::bind(const std::string& path, mode_t mode) {
  FAIRGV_TRY(address, address_of(path));
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return system_error("cannot make a socket");
  struct stat old {};
  if (::lstat(path.c_str(), &old) == 0 && !S_ISSOCK(old.st_mode)) {
    return Error{path + " exists and is not a socket: remove it, or choose another path"};
  }
  ::unlink(path.c_str());
  // Between bind() and chmod() nobody can connect, because nobody listens yet.
  if (::bind(fd.get(), generic(address.value()), sizeof(sockaddr_un)) != 0) {
    return system_error("cannot make the socket " + path);
  }
  Listener listener(std::move(fd), path);
  if (::chmod(path.c_str(), mode) != 0) return system_error("cannot set the permissions of " + path);
  if (::listen(listener.fd(), SOMAXCONN) != 0) return system_error("cannot listen at " + path);
  return listener;
}

/// An accepted connection begins with the listener's options, so a client that connects finds them at once.
Listener::Listener(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {
  refuse_descriptors_at(fd_.get());
}

Listener::~Listener() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Result<Socket> Listener::accept() const {
  UniqueFd fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (fd) return Socket(std::move(fd));
  // A peer that has left again is not an error; neither is being woken for nothing.
  if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) return Socket();
  return system_error("cannot accept a connection");
}

}  // namespace fairgv
