// All sessions, whatever their stage, and the latest sessions that were killed.
//
// A plain collection: SessionTable changes it, all others only read it. Used by the server's thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/daemon/books/kill_book.hpp"
#include "runtime/daemon/sessions/session.hpp"

namespace fairgv::daemon {

class Sessions {
 public:
  using Map = std::map<SessionId, std::unique_ptr<Session>>;

  const Map& all() const { return map_; }
  bool empty() const { return map_.empty(); }
  std::size_t size() const { return map_.size(); }
  /// Null if there is no such session.
  Session* find(SessionId id) const {
    const auto found = map_.find(id);
    return found == map_.end() ? nullptr : found->second.get();
  }
  /// The number of sessions that this user owns.
  std::size_t count_of(uid_t owner) const {
    return static_cast<std::size_t>(std::count_if(
        map_.begin(), map_.end(), [&](const auto& entry) { return entry.second->account.owner == owner; }));
  }
  bool all_in(Session::Stage stage) const {
    return std::all_of(map_.begin(), map_.end(),
                       [stage](const auto& entry) { return entry.second->stage == stage; });
  }
  bool any_in(Session::Stage stage) const {
    return std::any_of(map_.begin(), map_.end(),
                       [stage](const auto& entry) { return entry.second->stage == stage; });
  }
  /// The host's devices where sessions of the tenant may run; some of them several times.
  std::vector<std::uint32_t> devices_seen_by(TenantId tenant) const {
    std::vector<std::uint32_t> seen;
    for (const auto& [id, session] : map_) {
      if (session->tenant != tenant) continue;
      const auto shown = session->moved.places_in(session->devices).shown();
      seen.insert(seen.end(), shown.begin(), shown.end());
    }
    return seen;
  }

  Session& add(std::unique_ptr<Session> session) {
    const SessionId id = session->id;
    return *map_.emplace(id, std::move(session)).first->second;
  }
  void remove(SessionId id) { map_.erase(id); }

  /// Sessions that a person or the daemon has ended before their programs did.
  const KillBook& kills() const { return kills_; }
  void note(Kill kill) { kills_.note(std::move(kill)); }

 private:
  Map map_;
  KillBook kills_;
};

}  // namespace fairgv::daemon
