#include "runtime/session/trust/trusted_daemon.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <variant>

#include "runtime/session/trust/daemon_users.hpp"

namespace fairgv::session {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAnotherSocket = "choose another socket with FAIRGV_SOCKET";

std::string name_the_user() {
  return std::string(", or have an administrator name that user in ") + kDaemonUsersFile;
}

std::string remedy_for(PathDoubt::Kind kind) {
  switch (kind) {
    case PathDoubt::Kind::outsider:
      return "mount the daemon's folder where only the container's root may write, or name user " +
             std::to_string(kOverflowUser) + " in " + kDaemonUsersFile;
    case PathDoubt::Kind::writable:
      return std::string("take that right from them (chmod go-w), or ") + kAnotherSocket;
    default:
      return kAnotherSocket + name_the_user();
  }
}

Error distrust(const std::string& socket, const std::string& why) {
  return Error{"the daemon at " + socket + " is not to be trusted: " + why};
}

/// The kernel says who listens, whatever the path was.
Result<void> check_peer(const Socket& socket, const std::string& path, const TrustedPlace& place,
                        const TrustedUsers& users) {
  FAIRGV_TRY(peer, socket.peer());
  if (users.include(peer->uid)) return {};
  // In a container the daemon's user may have no number. Then the socket's place alone must be proof.
  if (peer->uid == kOverflowUser && place.is_exclusive && users.have_outsiders()) return {};
  return distrust(path, "it is served by a process of user " + std::to_string(peer->uid) +
                            ", who is neither you nor root" + users.mistake() + ": " + kAnotherSocket +
                            name_the_user());
}

}  // namespace

Error refusal_of(const PathDoubt& doubt, const std::string& socket, const TrustedUsers& users) {
  if (doubt.kind == PathDoubt::Kind::unreachable) return connect_error(socket, doubt.code);
  return distrust(socket, text_of(doubt) + users.mistake() + ": " + remedy_for(doubt.kind));
}

Result<Socket> connect_to_daemon(const std::string& path, int* code) {
  const auto fail = [&](Error error, int number) {
    if (code != nullptr) *code = number;
    return error;
  };
  if (auto fits = check_socket_path(path); !fits) return fail(fits.error(), ENAMETOOLONG);
  std::error_code unknown;
  const fs::path whole = fs::absolute(path, unknown);
  if (unknown) return fail(connect_error(path, unknown.value()), unknown.value());
  const TrustedUsers users;
  const auto found = users.look_along(whole);
  if (const auto* doubt = std::get_if<PathDoubt>(&found)) {
    const bool unreachable = doubt->kind == PathDoubt::Kind::unreachable;
    return fail(refusal_of(*doubt, path, users), unreachable ? doubt->code : EPERM);
  }
  auto socket = Socket::connect(path, code);
  if (!socket) return socket;
  if (auto trusted = check_peer(socket.value(), path, std::get<TrustedPlace>(found), users); !trusted) {
    return fail(trusted.error(), EPERM);
  }
  return socket;
}

}  // namespace fairgv::session
