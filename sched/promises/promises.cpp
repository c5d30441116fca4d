#include "sched/promises/promises.hpp"

#include <algorithm>

namespace fairgv::sched {

Promises::Promises() {
  guarantees_.set(kFloor, kBatchFloor, Time{});
}

void Promises::set(TenantId id, const TenantAttributes& attributes, Time now) {
  if (!any(attributes)) return remove(id);
  Tenant& tenant = enter(id);
  const bool had = guarantees_.has(tenant.slot);
  guarantees_.set(tenant.slot, attributes.min, now);
  if (!had && tenant.runnable && !tenant.held) guarantees_.wake(tenant.slot, now, false);
  if (attributes.max == kWholeDevice) {
    tenant.ceiling.reset();
  } else if (tenant.ceiling) {
    tenant.ceiling->set(attributes.max, now);
  } else {
    tenant.ceiling.emplace(attributes.max);
  }
  if (!tenant.held) return;
  // It goes on, or is held back anew, when somebody asks.
  held_.rekey(tenant.slot, {0, arrivals_++});
}

void Promises::remove(TenantId id) {
  Tenant* const tenant = find(id);
  if (tenant == nullptr) return;
  guarantees_.clear(tenant->slot);
  if (tenant->held) held_.erase(tenant->slot);
  free_slots_.push_back(tenant->slot);
  tenants_.erase(id);
  last_.reset();
}

bool Promises::wake(TenantId id, Time now, bool short_pause) {
  Tenant* const tenant = find(id);
  if (tenant == nullptr) return true;
  if (tenant->runnable) return !tenant->held;
  tenant->runnable = true;
  if (hold_back(id, now)) return false;
  guarantees_.wake(tenant->slot, now, short_pause);
  return true;
}

void Promises::block(TenantId id) {
  Tenant* const tenant = find(id);
  if (tenant == nullptr) return;
  if (tenant->held) held_.erase(tenant->slot);
  tenant->runnable = tenant->held = false;
  guarantees_.block(tenant->slot);
}

void Promises::batch_wants(bool wants, Time now) {
  if (wants) {
    guarantees_.wake(kFloor, now, true);
  } else {
    guarantees_.block(kFloor);
  }
}

bool Promises::hold_back(TenantId id, Time now) {
  Tenant* const tenant = find(id);
  if (tenant == nullptr || !tenant->runnable || !tenant->ceiling) return false;
  if (tenant->held) return true;
  if (tenant->ceiling->left(now) > Duration(0)) return false;
  tenant->held = true;
  const Time until = tenant->ceiling->free_at(now);
  held_.push(tenant->slot, {static_cast<std::uint64_t>(until.time_since_epoch().count()), arrivals_++});
  guarantees_.block(tenant->slot);
  return true;
}

bool Promises::is_held(TenantId id) const {
  const Tenant* const tenant = find(id);
  return tenant != nullptr && tenant->held;
}

std::optional<TenantId> Promises::take_released(Time now) {
  const auto moment = static_cast<std::uint64_t>(now.time_since_epoch().count());
  while (!held_.empty() && held_.front_key().start_tag <= moment) {
    const TenantId id = by_slot_[held_.front_slot()];
    Tenant& tenant = *find(id);
    held_.erase(tenant.slot);
    tenant.held = false;
    if (hold_back(id, now)) continue;  // its ceiling was changed
    guarantees_.wake(tenant.slot, now, true);
    return id;
  }
  return std::nullopt;
}

std::optional<Time> Promises::next_release() const {
  if (held_.empty()) return std::nullopt;
  return Time(Duration(static_cast<Duration::rep>(held_.front_key().start_tag)));
}

std::optional<Promises::Due> Promises::due(Time now) const {
  const auto slot = guarantees_.due(now);
  if (!slot) return std::nullopt;
  const Duration quantum = guarantees_.quantum(*slot);
  if (*slot == kFloor) return Due{std::nullopt, quantum};
  return Due{by_slot_[*slot], quantum};
}

void Promises::serve(const Due& due, Duration used) {
  if (!due.tenant) return guarantees_.charge(kFloor, used);
  if (const Tenant* const tenant = find(*due.tenant)) guarantees_.charge(tenant->slot, used);
}

void Promises::had_alone(TenantId id, Duration time, Time now) {
  if (const Tenant* const tenant = find(id)) guarantees_.charge_alone(tenant->slot, time, now);
}

void Promises::batch_had_alone(Duration time, Time now) {
  guarantees_.charge_alone(kFloor, time, now + kBatchFloor.period);
}

void Promises::used(TenantId id, Duration used, Time now) {
  Tenant* const tenant = find(id);
  if (tenant != nullptr && tenant->ceiling) tenant->ceiling->charge(used, now);
}

std::optional<Duration> Promises::left(TenantId id, Time now) {
  Tenant* const tenant = find(id);
  if (tenant == nullptr || !tenant->ceiling) return std::nullopt;
  return tenant->ceiling->left(now);
}

bool Promises::has_ceiling(TenantId id) const {
  const Tenant* const tenant = find(id);
  return tenant != nullptr && tenant->ceiling;
}

bool Promises::has_guarantee(TenantId id) const {
  const Tenant* const tenant = find(id);
  return tenant != nullptr && guarantees_.has(tenant->slot);
}

bool Promises::may_forget(TenantId id, Time now) const {
  const Tenant* const tenant = find(id);
  if (tenant == nullptr) return true;
  if (guarantees_.has(tenant->slot) && guarantees_.served_until(tenant->slot) > now) return false;
  return !tenant->ceiling || tenant->ceiling->fresh(now);
}

void Promises::save(TenantId id, TenantBudget& to) const {
  const Tenant* const tenant = find(id);
  if (tenant == nullptr) return;
  if (guarantees_.has(tenant->slot)) to.guaranteed_until = guarantees_.served_until(tenant->slot);
  if (!tenant->ceiling) return;
  to.last_second = tenant->ceiling->last_second();
  to.paced_until = tenant->ceiling->paced_until();
}

void Promises::restore(TenantId id, const TenantBudget& from) {
  Tenant* const tenant = find(id);
  if (tenant == nullptr) return;
  if (from.guaranteed_until && guarantees_.has(tenant->slot)) {
    guarantees_.set_served_until(tenant->slot, *from.guaranteed_until);
  }
  if (tenant->ceiling && from.paced_until) tenant->ceiling->restore(from.last_second, *from.paced_until);
}

void Promises::restore_floor(Time until) {
  guarantees_.set_served_until(kFloor, std::max(until, floor_until()));
}

// -- inside

Promises::Tenant& Promises::enter(TenantId id) {
  last_.reset();
  const auto [found, is_new] = tenants_.try_emplace(id);
  if (!is_new) return found->second;
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<Slot>(by_slot_.size()));
    by_slot_.emplace_back();
    held_.reserve(by_slot_.size());
  }
  found->second.slot = free_slots_.back();
  free_slots_.pop_back();
  by_slot_[found->second.slot] = id;
  return found->second;
}

const Promises::Tenant* Promises::find(TenantId id) const {
  if (last_ == id) return last_found_;
  const auto found = tenants_.find(id);
  last_ = id;
  return last_found_ = found == tenants_.end() ? nullptr : &found->second;
}

}  // namespace fairgv::sched
