#include "sched/promises/guarantees.hpp"

#include <algorithm>

namespace fairgv::sched {
namespace {

std::uint64_t key_of(Time time) {
  return static_cast<std::uint64_t>(std::max(time.time_since_epoch(), Duration(0)).count());
}

/// No moment is later, and no time longer, so that no sum overflows: 200 and 50 years.
constexpr Time kLatest{std::chrono::hours(24 * 73'050)};
constexpr Duration kLongest = std::chrono::hours(24 * 18'262);

/// used * T / C, rounded up, without an intermediate product beyond C * T; at most kLongest.
Duration time_for(const Reservation& reservation, Duration used) {
  const Duration::rep budget = reservation.budget.count();
  const Duration::rep period = reservation.period.count();
  const Duration::rep whole = used.count() / budget;
  const Duration::rep rest = used.count() % budget;
  if (whole >= kLongest.count() / period) return kLongest;
  return Duration(whole * period + (rest * period + budget - 1) / budget);
}

}  // namespace

void Guarantees::set(Slot slot, const Reservation& reservation, Time now) {
  if (reservation.empty()) return clear(slot);
  if (slot >= tenants_.size()) {
    tenants_.resize(slot + 1);
    early_.reserve(tenants_.size());
    due_.reserve(tenants_.size());
  }
  Tenant& tenant = tenants_[slot];
  if (tenant.reservation.empty()) {
    ++count_;
    tenant = Tenant{};
    tenant.served_until = now;
  }
  tenant.reservation = reservation;
  if (!tenant.runnable) return;
  leave(slot);
  line_up(slot);
}

void Guarantees::clear(Slot slot) {
  if (!has(slot)) return;
  leave(slot);
  tenants_[slot] = Tenant{};
  --count_;
}

void Guarantees::wake(Slot slot, Time now, bool short_pause) {
  if (!has(slot) || tenants_[slot].runnable) return;
  Tenant& tenant = tenants_[slot];
  const Time earliest = short_pause ? now - tenant.reservation.period : now;
  tenant.served_until = std::max(tenant.served_until, earliest);
  tenant.runnable = true;
  line_up(slot);
}

void Guarantees::block(Slot slot) {
  if (!has(slot) || !tenants_[slot].runnable) return;
  tenants_[slot].runnable = false;
  leave(slot);
}

std::optional<Guarantees::Slot> Guarantees::due(Time now) const {
  admit_due(now);
  if (due_.empty()) return std::nullopt;
  return due_.front_slot();
}

std::optional<Time> Guarantees::next_due() const {
  if (early_.empty()) return std::nullopt;
  return tenants_[early_.front_slot()].served_until;
}

void Guarantees::charge(Slot slot, Duration used) {
  if (!has(slot) || used <= Duration(0)) return;
  Tenant& tenant = tenants_[slot];
  move_to(slot, std::min(tenant.served_until + time_for(tenant.reservation, used), kLatest));
}

void Guarantees::charge_alone(Slot slot, Duration time, Time until) {
  if (!has(slot) || time <= Duration(0) || tenants_[slot].served_until >= until) return;
  const Tenant& tenant = tenants_[slot];
  move_to(slot, std::min(tenant.served_until + time_for(tenant.reservation, time), until));
}

void Guarantees::move_to(Slot slot, Time until) {
  tenants_[slot].served_until = until;
  if (!tenants_[slot].runnable) return;
  leave(slot);
  line_up(slot);
}

void Guarantees::line_up(Slot slot) {
  early_.push(slot, {key_of(tenants_[slot].served_until), arrivals_++});
}

void Guarantees::leave(Slot slot) {
  if (early_.contains(slot)) early_.erase(slot);
  if (due_.contains(slot)) due_.erase(slot);
}

void Guarantees::admit_due(Time now) const {
  while (!early_.empty() && early_.front_key().start_tag <= key_of(now)) {
    const Slot slot = early_.front_slot();
    early_.erase(slot);
    due_.push(slot, {key_of(tenants_[slot].served_until + tenants_[slot].reservation.period), arrivals_++});
  }
}

}  // namespace fairgv::sched
