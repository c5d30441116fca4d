// Unix sockets that keep packets whole (SOCK_SEQPACKET): how FairGV's processes greet each other.
//
// A packet is one JSON object and may carry file descriptors. The kernel says who the peer is, so nobody has
// to be believed. Sockets are for starting, ending and controlling sessions only; calls travel over rings.
//
// A Socket is used by one thread at a time. Nothing here throws, and no signal is raised when the peer is
// gone.
#pragma once

#include <sys/types.h>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv {

/// The longest packet, in bytes. Longer ones are refused by both sides.
inline constexpr std::size_t kMaxPacket = std::size_t{64} << 10;
/// The most descriptors that come with a packet.
inline constexpr std::size_t kMaxDescriptors = 4;

/// The process that opened the other end, as the kernel saw it at that moment.
struct PeerCredentials {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};

/// The outcome of receive().
struct Packet {
  enum class Kind {
    message,  // text and fds hold what the peer sent
    nothing,  // a non-blocking socket, or a receive timeout: look again later
    closed    // the peer has hung up
  };
  Kind kind = Kind::closed;
  std::string text;
  std::vector<UniqueFd> fds;
};

/// Whether a socket can have this path: it is neither empty nor too long.
Result<void> check_socket_path(const std::string& path);

/// Why the socket at `path` cannot be reached, and what to do about it; `code` is errno.
Error connect_error(const std::string& path, int code);

class Socket {
 public:
  Socket() = default;
  /// Takes a connected SOCK_SEQPACKET socket, for instance one that was inherited.
  explicit Socket(UniqueFd fd) : fd_(std::move(fd)) {}

  /// Connects to a listening socket, whoever listens: clients of the daemon use connect_to_daemon(). `code`,
  /// if given, receives errno on failure.
  static Result<Socket> connect(const std::string& path, int* code = nullptr);
  /// Two connected ends.
  static Result<std::pair<Socket, Socket>> pair();

  int fd() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }
  [[nodiscard]] UniqueFd release() { return std::move(fd_); }
  void close() { fd_.reset(); }

  Result<void> set_nonblocking();
  /// From now on nobody can send descriptors to this end (from Linux 6.16 on). See receive_text().
  void refuse_descriptors() const;
  Result<PeerCredentials> peer() const;

  /// Sends one packet and copies of up to kMaxDescriptors descriptors with it. Fails if the packet is too
  /// long, the peer is gone, or a non-blocking socket has no room.
  Result<void> send(std::string_view text, std::initializer_list<int> fds = {}) const;
  /// Sends one packet unless that would mean waiting, whatever the socket's mode; tells whether it did.
  bool offer(std::string_view text) const;
  /// Takes one packet. An Error is for a broken socket or a packet beyond the limits: hang up then.
  Result<Packet> receive() const;
  /// The same from a peer that has no descriptors to give: a packet that has some is an Error. None of them
  /// is ever this process' own, in which closing it could wait for a file system that the peer serves.
  Result<Packet> receive_text() const;

 private:
  Result<Packet> receive(std::span<unsigned char> descriptors) const;
  UniqueFd fd_;
};

/// A socket that others connect to, without descriptors (Socket::refuse_descriptors). Removes its path when
/// it goes away, unless it is borrowed.
class Listener {
 public:
  /// Replaces whatever socket file lies at `path`: make sure first that nobody serves it. Non-blocking.
  /// `mode` holds the file's permissions.
  static Result<Listener> bind(const std::string& path, mode_t mode);
  /// A socket that already listens at `path`, from the program before this one in the same process.
  static Listener adopt(UniqueFd fd, std::string path) { return {std::move(fd), std::move(path)}; }
  /// A listener whose path belongs to the socket's maker, and stays.
  static Listener borrow(UniqueFd fd) { return {std::move(fd), {}}; }
  ~Listener();
  Listener(Listener&& other) noexcept : fd_(std::move(other.fd_)), path_(std::exchange(other.path_, {})) {}
  Listener& operator=(Listener&&) = delete;

  int fd() const { return fd_.get(); }
  bool is_borrowed() const { return path_.empty(); }
  /// The next peer, non-blocking; an empty Socket when none waits.
  Result<Socket> accept() const;

 private:
  Listener(UniqueFd fd, std::string path);
  UniqueFd fd_;
  std::string path_;
};

}  // namespace fairgv
