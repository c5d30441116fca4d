#include "sched/water_level.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::sched {

void WaterLevel::set(TenantId id, const Claim& claim) {
  if (const auto found = members_.find(id); found != members_.end()) {
    const Member& before = found->second;
    weights_ -= before.claim.weight;
    guaranteed_ -= before.claim.least;
    vessels_.erase(vessel(id, before.claim));
    if (before.full) {
      std::erase(full_, id);
      changed_.push_back(id);
    }
    members_.erase(found);
  }
  if (claim.weight > 0) {
    Claim own = claim;
    own.most = std::clamp<Parts>(own.most, 0, kWhole);
    own.least = std::clamp<Parts>(own.least, 0, own.most);
    members_[id] = {own, false};
    weights_ += own.weight;
    guaranteed_ += own.least;
    if (own.most < kWhole) vessels_.insert(vessel(id, own));
  }
  fill();
}

void WaterLevel::fill() {
  poured_ = std::max<Parts>(kWhole - guaranteed_, 0);
  open_ = weights_;
  const std::vector<TenantId> before = std::exchange(full_, {});
  for (const Vessel& vessel : vessels_) {
    // It is full if the level, poured_ / open_, is at least room / weight.
    if (vessel.room * open_ > poured_ * vessel.weight) break;
    poured_ -= vessel.room;
    open_ -= vessel.weight;
    full_.push_back(vessel.id);
    Member& member = members_.at(vessel.id);
    if (!std::exchange(member.full, true)) changed_.push_back(vessel.id);
  }
  // The first of them in the order are full; those that were, and are not now, come behind.
  const std::set<TenantId> now(full_.begin(), full_.end());
  for (const TenantId id : before) {
    if (now.contains(id)) continue;
    members_.at(id).full = false;
    changed_.push_back(id);
  }
}

double WaterLevel::level() const {
  if (open_ == 0) return 0;
  return static_cast<double>(poured_) / (static_cast<double>(open_) * static_cast<double>(kWhole));
}

double WaterLevel::share(TenantId id) const {
  const auto found = members_.find(id);
  if (found == members_.end()) return 0;
  const auto& [claim, full] = found->second;
  if (full) return static_cast<double>(claim.most) / static_cast<double>(kWhole);
  return static_cast<double>(claim.least) / static_cast<double>(kWhole) + claim.weight * level();
}

bool WaterLevel::is_full(TenantId id) const {
  const auto found = members_.find(id);
  return found != members_.end() && found->second.full;
}

std::vector<TenantId> WaterLevel::take_changed() {
  return std::exchange(changed_, {});
}

}  // namespace fairgv::sched
