#include "runtime/session/trust/trusted_users.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "runtime/base/handle.hpp"

namespace fairgv::session {
namespace {

constexpr std::size_t kUserEntry = std::size_t{16} << 10;
constexpr std::size_t kLongestMap = std::size_t{64} << 10;  // the kernel's 340 lines are shorter

/// At most one byte more than `most`.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t most) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return system_error(path.string());
  std::string text(most + 1, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t more = ::read(file.get(), text.data() + length, text.size() - length);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return system_error(path.string());
    if (more == 0) break;
    length += static_cast<std::size_t>(more);
  }
  text.resize(length);
  return text;
}

bool is_number_of(const std::string& name, uid_t user) {
  std::vector<char> space(kUserEntry);
  passwd entry{};
  passwd* found = nullptr;
  return ::getpwnam_r(name.c_str(), &entry, space.data(), space.size(), &found) == 0 && found != nullptr &&
         found->pw_uid == user;
}

}  // namespace

TrustedUsers::TrustedUsers(uid_t self, std::filesystem::path root) : self_(self), root_(std::move(root)) {}

bool TrustedUsers::are_root_or_self(uid_t user) const {
  // A process that runs as kOverflowUser itself cannot tell its own files from those of users without a
  // number.
  const bool am_anybody = self_ == kOverflowUser && user == self_ && have_outsiders();
  return user == 0 || (user == self_ && !am_anybody);
}

bool TrustedUsers::include(uid_t user) const {
  if (are_root_or_self(user)) return true;
  const Result<DaemonUsers>& users = named();
  if (!users) return false;
  if (std::find(users->numbers.begin(), users->numbers.end(), user) != users->numbers.end()) return true;
  return std::any_of(users->names.begin(), users->names.end(),
                     [&](const std::string& name) { return is_number_of(name, user); });
}

bool TrustedUsers::have_outsiders() const {
  if (!have_outsiders_) {
    const auto map = read_file(root_ / "proc/self/uid_map", kLongestMap);
    have_outsiders_ = map && !maps_every_user(map.value());
  }
  return *have_outsiders_;
}

std::variant<TrustedPlace, PathDoubt> TrustedUsers::look_along(const std::filesystem::path& path) const {
  return session::look_along(
      path, {[this](uid_t user) { return include(user); }, [this] { return have_outsiders(); }}, root_);
}

const Result<DaemonUsers>& TrustedUsers::named() const {
  if (!named_) named_ = read_named();
  return *named_;
}

Result<DaemonUsers> TrustedUsers::read_named() const {
  const std::string file = kDaemonUsersFile;
  const auto found = session::look_along(
      file, {[this](uid_t user) { return are_root_or_self(user); }, [this] { return have_outsiders(); }},
      root_);
  if (const auto* doubt = std::get_if<PathDoubt>(&found)) {
    if (doubt->kind == PathDoubt::Kind::unreachable && doubt->code == ENOENT) return DaemonUsers{};
    return Error{text_of(*doubt)};
  }
  const mode_t mode = std::get<TrustedPlace>(found).status.st_mode;
  if (!S_ISREG(mode)) return Error{file + " is no file"};
  if ((mode & (S_IWGRP | S_IWOTH)) != 0) return Error{file + " may be written to by others"};
  FAIRGV_TRY(text, read_file(root_ / std::filesystem::path(file).relative_path(), kLongestDaemonUsers));
  return parse_daemon_users(text.value(), file);
}

std::string TrustedUsers::mistake() const {
  return named_ && !*named_ ? " (" + named_->error().message + ")" : std::string();
}

}  // namespace fairgv::session
