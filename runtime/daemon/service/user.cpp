#include "runtime/daemon/service/user.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace fairgv::daemon {
namespace {

constexpr std::size_t kEntryBytes = 16 << 10;

std::vector<gid_t> groups_of(const std::string& name, gid_t gid) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  while (::getgrouplist(name.c_str(), gid, groups.data(), &count) < 0) {
    groups.resize(static_cast<std::size_t>(count));
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

}  // namespace

std::string numbered_user(uid_t uid) {
  return std::string(kNumberedUser) + std::to_string(uid);
}

User look_up_user(uid_t uid, gid_t gid) {
  std::array<char, kEntryBytes> text{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, text.data(), text.size(), &found) != 0 || found == nullptr) {
    return {uid, gid, numbered_user(uid), "/", {gid}};
  }
  return {uid, gid, entry.pw_name, entry.pw_dir, groups_of(entry.pw_name, gid)};
}

bool is_user(uid_t uid) {
  std::array<char, kEntryBytes> text{};
  passwd entry{};
  passwd* found = nullptr;
  const int code = ::getpwuid_r(uid, &entry, text.data(), text.size(), &found);
  return found != nullptr || code == ERANGE;  // there is one, and it is long
}

std::optional<uid_t> find_user(const std::string& name) {
  std::array<char, kEntryBytes> text{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwnam_r(name.c_str(), &entry, text.data(), text.size(), &found) != 0 || found == nullptr) {
    return std::nullopt;
  }
  return entry.pw_uid;
}

std::optional<gid_t> find_group(const std::string& name) {
  std::vector<char> text(kEntryBytes);
  group entry{};
  group* found = nullptr;
  int code = 0;
  // A group lists its members, which may be many.
  while ((code = ::getgrnam_r(name.c_str(), &entry, text.data(), text.size(), &found)) == ERANGE) {
    text.resize(2 * text.size());
  }
  if (code != 0 || found == nullptr) return std::nullopt;
  return entry.gr_gid;
}

std::string group_name(gid_t gid) {
  std::vector<char> text(kEntryBytes);
  group entry{};
  group* found = nullptr;
  int code = 0;
  while ((code = ::getgrgid_r(gid, &entry, text.data(), text.size(), &found)) == ERANGE) {
    text.resize(2 * text.size());
  }
  return code != 0 || found == nullptr ? std::to_string(gid) : entry.gr_name;
}

bool is_administrator(uid_t uid) {
  return uid == 0 || uid == ::geteuid();
}

std::vector<gid_t> peer_groups(int socket) {
  std::vector<gid_t> groups;
  socklen_t bytes = 0;
  // Tells how much room it needs.
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nullptr, &bytes) != 0 && errno == ERANGE) {
    groups.resize(bytes / sizeof(gid_t));
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) != 0) groups.clear();
  }
  ucred peer{};
  bytes = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0) groups.push_back(peer.gid);
  return groups;
}

bool peer_is_in(gid_t group, int socket) {
  const std::vector<gid_t> groups = peer_groups(socket);
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

}  // namespace fairgv::daemon
