#include "runtime/session/trust/trusted_path.hpp"

#include <unistd.h>

#include <cerrno>
#include <deque>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::session {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as the kernel follows

PathDoubt unreachable(const fs::path& where, int code) {
  return {PathDoubt::Kind::unreachable, where, 0, code};
}

/// One walk along a path.
class Walk {
 public:
  Walk(const Believed& believed, const fs::path& root) : believed_(believed), root_(root) {}

  std::variant<TrustedPlace, PathDoubt> to(const fs::path& path) {
    put_first(path);
    if (auto doubt = enter("/")) return *doubt;
    while (!rest_.empty()) {
      const fs::path name = std::exchange(rest_.front(), {});
      rest_.pop_front();
      if (auto doubt = take(name)) return *doubt;
    }
    return TrustedPlace{status_, is_exclusive_};
  }

 private:
  struct Folder {
    fs::path path;
    struct stat status {};
    bool is_exclusive = false;  // of the folder that it lies in
  };

  void put_first(const fs::path& path) {
    std::vector<fs::path> names;
    for (const fs::path& name : path.relative_path()) {
      if (!name.empty() && name != ".") names.push_back(name);
    }
    rest_.insert(rest_.begin(), names.begin(), names.end());
  }

  std::optional<PathDoubt> take(const fs::path& name) {
    if (!S_ISDIR(status_.st_mode)) return unreachable(file_, ENOTDIR);
    if (name != "..") return enter(folders_.back().path / name);
    // It has been looked at on the way here.
    if (folders_.size() > 1) folders_.pop_back();
    status_ = folders_.back().status;
    is_exclusive_ = folders_.back().is_exclusive;
    return std::nullopt;
  }

  std::optional<PathDoubt> enter(const fs::path& path) {
    const bool exclusive = folders_.empty() || (folders_.back().status.st_mode & kOthersWrite) == 0;
    struct stat found {};
    const fs::path real = root_ / path.relative_path();
    if (::lstat(real.c_str(), &found) != 0) return unreachable(path, errno);
    if (auto doubt = doubt_owner(path, found.st_uid, exclusive)) return doubt;
    if (S_ISLNK(found.st_mode)) return follow(path, real);
    status_ = found;
    is_exclusive_ = exclusive;
    file_ = path;
    if (!S_ISDIR(found.st_mode)) return std::nullopt;
    if ((found.st_mode & kOthersWrite) != 0 && (found.st_mode & S_ISVTX) == 0) {
      return PathDoubt{PathDoubt::Kind::writable, path, found.st_uid, 0};
    }
    folders_.push_back({path, found, exclusive});
    return std::nullopt;
  }

  std::optional<PathDoubt> doubt_owner(const fs::path& path, uid_t owner, bool exclusive) const {
    if (believed_.user(owner)) return std::nullopt;
    const bool outsider = owner == kOverflowUser && believed_.has_outsiders();
    if (outsider && exclusive) return std::nullopt;
    return PathDoubt{outsider ? PathDoubt::Kind::outsider : PathDoubt::Kind::foreign, path, owner, 0};
  }

  std::optional<PathDoubt> follow(const fs::path& path, const fs::path& real) {
    if (++links_ > kMostLinks) return unreachable(path, ELOOP);
    std::error_code code;
    const fs::path target = fs::read_symlink(real, code);
    if (code) return unreachable(path, code.value());
    if (target.is_absolute()) folders_.resize(1);
    put_first(target);
    status_ = folders_.back().status;
    is_exclusive_ = folders_.back().is_exclusive;
    return std::nullopt;
  }

  const Believed& believed_;
  const fs::path& root_;
  std::deque<fs::path> rest_;    // names that are left to walk
  std::vector<Folder> folders_;  // from the root to where the walk is
  fs::path file_;                // where the walk is, and its status
  struct stat status_ {};
  bool is_exclusive_ = false;
  int links_ = 0;
};

}  // namespace

std::variant<TrustedPlace, PathDoubt> look_along(const fs::path& path, const Believed& believed,
                                                 const fs::path& root) {
  return Walk(believed, root).to(path);
}

std::string text_of(const PathDoubt& doubt) {
  const std::string where = doubt.where.string();
  switch (doubt.kind) {
    case PathDoubt::Kind::foreign:
      return where + " belongs to user " + std::to_string(doubt.owner) + ", who is neither you nor root";
    case PathDoubt::Kind::outsider:
      return where + " belongs to somebody outside of this container, in a folder that others may write to";
    case PathDoubt::Kind::writable:
      return where + " may be written to by others";
    case PathDoubt::Kind::unreachable:
      break;
  }
  return system_error(where, doubt.code).message;
}

}  // namespace fairgv::session
