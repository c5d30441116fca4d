#include "runtime/daemon/user.hpp"

#include <grp.h>
#include <pwd.h>

#include <array>

#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {
namespace {

constexpr std::size_t kEntryBytes = 16 << 10;

std::string numbered(uid_t uid) {
  return "uid-" + std::to_string(uid);
}

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

User look_up_user(uid_t uid, gid_t gid) {
  std::array<char, kEntryBytes> text{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, text.data(), text.size(), &found) != 0 || found == nullptr) {
    return {uid, gid, numbered(uid), "/", {gid}};
  }
  return {uid, gid, entry.pw_name, entry.pw_dir, groups_of(entry.pw_name, gid)};
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

std::string default_tenant(const User& user) {
  return session::is_tenant_name(user.name) ? user.name : numbered(user.uid);
}

}  // namespace fairgv::daemon
