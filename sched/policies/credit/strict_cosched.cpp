#include "sched/policies/credit/strict_cosched.hpp"

namespace fairgv::sched {

void StrictCoschedPolicy::add(TenantId id, const TenantAttributes& attributes, Time) {
  host_.add(id, attributes.weight);
  members_.try_emplace(id);
}

void StrictCoschedPolicy::remove(TenantId id, Time) {
  host_.remove(id);
  members_.erase(id);
  if (owner_ == id) owner_.reset();
}

void StrictCoschedPolicy::set_attributes(TenantId id, const TenantAttributes& attributes, Time) {
  host_.set_weight(id, attributes.weight);
}

void StrictCoschedPolicy::wake(TenantId id, Time) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  found->second.runnable = true;
  host_.wake(id);
}

void StrictCoschedPolicy::block(TenantId id, Time now) {
  const auto found = members_.find(id);
  if (found != members_.end()) found->second = {false, now};
}

void StrictCoschedPolicy::charge(TenantId, Duration, Time) {}

Decision StrictCoschedPolicy::next(Time now) {
  if (!owner_ || now >= turn_ends_) open_turn(now);
  if (!owner_) return {};
  if (!members_.at(*owner_).runnable) return {std::nullopt, turn_ends_};
  return {Turn{*owner_, turn_ends_ - now, TurnEnd::clock}, std::nullopt};
}

std::optional<Time> StrictCoschedPolicy::pause(TenantId id, Time now) {
  if (owner_ != id || now >= turn_ends_) return std::nullopt;
  return turn_ends_;
}

void StrictCoschedPolicy::open_turn(Time now) {
  owner_.reset();
  while (const auto picked = host_.pick()) {
    const Member& member = members_.at(*picked);
    if (!member.runnable && now - member.blocked > kHostWork) {
      host_.block(*picked);
      continue;
    }
    owner_ = picked;
    turn_ends_ = now + slice();
    host_.charge(*picked, slice());
    return;
  }
}

}  // namespace fairgv::sched
