#include "runtime/daemon/tenants/peers/owners.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <utility>

#include "runtime/daemon/service/user.hpp"

namespace fairgv::daemon {
namespace {

constexpr std::size_t kLargestFile = std::size_t{16} << 20;
constexpr std::size_t kMostKnown = 4'096;
/// An owner may be a subordinate id, too; nobody nests them deeper.
constexpr int kDeepest = 4;
/// Ids of a block that are looked at for one that is no user's.
constexpr uid_t kMostTried = 64;

std::string beginning_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(kLargestFile, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return text;
}

}  // namespace

bool Owners::Version::operator==(const Version& other) const {
  return there == other.there && device == other.device && inode == other.inode && size == other.size &&
         changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec;
}

Owners::Users Owners::system_users() {
  return {[](uid_t uid) { return is_user(uid); }, [](const std::string& name) { return find_user(name); }};
}

Owners::Owners(std::string file, Users users) : file_(std::move(file)), users_(std::move(users)) {}

uid_t Owners::owner_of(uid_t id) {
  if (id == 0) return id;
  read_if_changed();
  // Most ids are in no range, and cost only a search.
  if (ids_.find(id) == nullptr) return id;
  if (const auto found = known_.find(id); found != known_.end()) return found->second;
  if (known_.size() >= kMostKnown) known_.clear();
  return known_[id] = look_up(id);
}

void Owners::refresh() {
  version_.reset();
  known_.clear();
}

void Owners::read_if_changed() {
  struct stat status {};
  Version now;
  if (::stat(file_.c_str(), &status) == 0) {
    now = {status.st_dev, status.st_ino, status.st_size, status.st_mtim, true};
  }
  if (version_ == now) return;
  version_ = now;
  read();
}

void Owners::read() {
  known_.clear();
  const SubordinateText parsed = parse_subordinate_ids(version_->there ? beginning_of(file_) : "");
  ids_ = SubordinateIds(parsed.ranges);
  if (parsed.malformed.empty()) return;
  std::string lines;
  for (const std::size_t line : parsed.malformed) lines += (lines.empty() ? "" : ", ") + std::to_string(line);
  spdlog::warn("{}: lines that are not NAME:START:COUNT are ignored: {}", file_, lines);
}

uid_t Owners::look_up(uid_t id) const {
  for (int depth = 0; depth < kDeepest; ++depth) {
    const uid_t holder = holder_of(id);
    if (holder == id) break;
    id = holder;
  }
  return id;
}

uid_t Owners::holder_of(uid_t id) const {
  const SubordinateIds::Block* const block = ids_.find(id);
  if (block == nullptr || users_.is_user(id)) return id;
  if (block->owners.size() == kMostOwnersNamed) return stand_in_for(*block, id);
  std::optional<uid_t> holder;
  for (const std::string& name : block->owners) {
    auto uid = users_.find(name);
    uid_t number = 0;
    const auto [stop, code] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (!uid && code == std::errc{} && stop == name.data() + name.size()) uid = number;
    if (!uid || *uid == 0 || (holder && *holder != *uid)) return stand_in_for(*block, id);
    holder = uid;
  }
  return holder.value_or(id);
}

/// The first id of the block that no user has: a user must not become the owner of others' ids.
uid_t Owners::stand_in_for(const SubordinateIds::Block& block, uid_t id) const {
  const uid_t tried = std::min(block.last - block.first, kMostTried);
  for (uid_t i = 0; i <= tried; ++i) {
    if (!users_.is_user(block.first + i)) return block.first + i;
  }
  return id;
}

}  // namespace fairgv::daemon
