#include "sched/policies/credit/played_host.hpp"

namespace fairgv::sched {

void PlayedHost::add(TenantId id, std::uint32_t weight) {
  schedule_.add(id, weight);
  members_.try_emplace(id);
}

void PlayedHost::remove(TenantId id) {
  schedule_.remove(id);
  members_.erase(id);
  if (owner_ == id) owner_.reset();
}

void PlayedHost::wake(TenantId id) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  found->second.runnable = true;
  schedule_.wake(id);
}

void PlayedHost::block(TenantId id, Time now) {
  const auto found = members_.find(id);
  if (found != members_.end()) found->second = {false, now};
}

Decision PlayedHost::next(Duration slice, Time now) {
  if (!owner_ || now >= turn_ends_) open_turn(slice, now);
  if (!owner_) return {};
  if (!members_.at(*owner_).runnable) return {std::nullopt, turn_ends_};
  return {Turn{*owner_, turn_ends_ - now, TurnEnd::clock}, std::nullopt};
}

std::optional<Time> PlayedHost::turn_ends(TenantId id, Time now) const {
  if (owner_ != id || now >= turn_ends_) return std::nullopt;
  return turn_ends_;
}

void PlayedHost::open_turn(Duration slice, Time now) {
  owner_.reset();
  while (const auto picked = schedule_.pick()) {
    const Member& member = members_.at(*picked);
    if (!member.runnable && now - member.blocked > kHostWork) {
      schedule_.block(*picked);
      continue;
    }
    owner_ = picked;
    turn_ends_ = now + slice;
    schedule_.charge(*picked, slice);
    return;
  }
}

}  // namespace fairgv::sched
