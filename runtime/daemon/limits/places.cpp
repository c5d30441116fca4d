#include "runtime/daemon/limits/places.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "runtime/daemon/service/user.hpp"

namespace fairgv::daemon {

Result<void> may_begin(const SessionCount& there, const Account& account, uid_t uid, const Config& config,
                       std::size_t room) {
  const std::size_t all = std::min<std::size_t>(config.session_limit, room);
  const std::size_t kept =
      std::min<std::size_t>(all, config.kept_sessions.value_or(kept_for_administrators(all)));
  const bool full = there.all >= all;
  if ((full || (!account.administrator && there.all + kept >= all)) && room < config.session_limit) {
    return Error{
        "the daemon already serves " + std::to_string(there.all) + " sessions, as many" +
        (full ? "" : ", but for administrators,") +
        " as it has descriptors for: wait for one to end, or raise its RLIMIT_NOFILE (LimitNOFILE= of "
        "its service)"};
  }
  if (full) {
    return Error{"the daemon already serves " + std::to_string(there.all) +
                 " sessions: wait for one to end, or raise session_limit in its configuration"};
  }
  if (!account.administrator && there.all + kept >= all) {
    return Error{"the daemon already serves " + std::to_string(there.all) + " sessions and keeps its last " +
                 std::to_string(kept) +
                 " places for administrators: wait for one to end, or raise session_limit in its "
                 "configuration"};
  }
  if (is_administrator(uid) || there.of_owner < config.user_session_limit) return {};
  return Error{"user " + std::to_string(account.owner) + " already has " + std::to_string(there.of_owner) +
               " sessions: wait for one to end, or ask for a higher user_session_limit"};
}

std::optional<std::uint64_t> seat_to_clear(const std::vector<Seat>& seats, const Account& newcomer) {
  std::unordered_map<uid_t, std::size_t> held;
  for (const Seat& seat : seats) {
    if (!seat.account.administrator) ++held[seat.account.owner];
  }
  const auto most = std::max_element(held.begin(), held.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == held.end()) return std::nullopt;
  const auto own = held.find(newcomer.owner);
  const std::size_t newcomers = newcomer.administrator || own == held.end() ? 0 : own->second;
  if (most->second <= newcomers + 1 && !newcomer.administrator) return std::nullopt;
  const Seat* longest = nullptr;
  for (const Seat& seat : seats) {
    if (seat.account.administrator || seat.account.owner != most->first || seat.busy) continue;
    if (longest == nullptr || seat.heard < longest->heard) longest = &seat;
  }
  return longest == nullptr ? std::nullopt : std::optional(longest->key);
}

}  // namespace fairgv::daemon
