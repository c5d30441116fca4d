#include "runtime/daemon/tenants/peers/peer_process.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "runtime/daemon/tenants/peers/user_tenant.hpp"

namespace fairgv::daemon {
namespace {

// Younger than Debian 12's headers.
constexpr int kPeerPidfd = 77;  // SO_PEERPIDFD

constexpr std::string_view kUnified = "0::";
constexpr std::string_view kDeleted = " (deleted)";

std::string process(pid_t pid) {
  return "process " + std::to_string(pid);
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Whether the process runs as this user: of its four user ids the effective one.
bool runs_as(pid_t pid, uid_t uid) {
  std::istringstream status(text_of_file("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("Uid:")) continue;
    std::istringstream ids(line.substr(4));
    uid_t real = 0, effective = 0;
    return ids >> real >> effective && effective == uid;
  }
  return false;
}

bool has_ended(int pidfd) {
  pollfd end{pidfd, POLLIN, 0};
  return ::poll(&end, 1, 0) != 0;
}

}  // namespace

Result<UniqueFd> open_peer(int socket, const PeerCredentials& peer) {
  int fd = -1;
  socklen_t bytes = sizeof(fd);
  if (::getsockopt(socket, SOL_SOCKET, kPeerPidfd, &fd, &bytes) == 0) return UniqueFd(fd);
  if (errno != ENOPROTOOPT) return Error{process(peer.pid) + " has ended"};
  UniqueFd opened(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
  if (!opened || !runs_as(peer.pid, peer.uid)) return Error{process(peer.pid) + " has ended"};
  return opened;
}

Result<std::string> parse_control_group(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(kUnified)) continue;
    line.remove_prefix(kUnified.size());
    if (line.ends_with(kDeleted)) line.remove_suffix(kDeleted.size());
    if (line.starts_with('/')) return std::string(line);
  }
  return Error{"this system has no control groups of version 2"};
}

Result<std::string> control_group_of(int socket, const PeerCredentials& peer) {
  if (peer.pid <= 0) return Error{"its process is outside of what the daemon sees"};
  FAIRGV_TRY(pidfd, open_peer(socket, peer));
  const std::string text = text_of_file("/proc/" + std::to_string(peer.pid) + "/cgroup");
  // Only now is it sure that the file was this process': while a process runs, no other has its number.
  if (has_ended(pidfd->get())) return Error{process(peer.pid) + " has ended"};
  return parse_control_group(text);
}

Person person_behind(int socket, const PeerCredentials& peer, uid_t owner, bool cgroup_wanted) {
  Person person;
  person.uid = peer.uid;
  if (owner != peer.uid) person.owner = owner;
  person.groups = peer_groups(socket);
  person.user_tenant = default_tenant(look_up_user(owner, peer.gid));
  if (cgroup_wanted) person.cgroup = control_group_of(socket, peer);
  return person;
}

}  // namespace fairgv::daemon
