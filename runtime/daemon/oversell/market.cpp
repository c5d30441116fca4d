#include "runtime/daemon/oversell/market.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::daemon {
namespace {

using sched::Duration;
using sched::oversell::kPeriod;
using sched::oversell::Observation;

Market::Time next_second(Market::Time now) {
  return Market::Time(kPeriod * (now.time_since_epoch() / kPeriod + 1));
}

/// The work that the tenant did in each of so many seconds; totals never go down.
Observation between(const TenantReading& before, const TenantReading& now, std::int64_t seconds) {
  return {now.id, std::max(now.device_time - before.device_time, Duration(0)) / seconds,
          (now.units - std::min(before.units, now.units)) / static_cast<std::uint64_t>(seconds)};
}

}  // namespace

Market::Share Market::for_sale() const {
  const Share offered = controller_.for_sale();
  if (!resting_ || controller_.settings().fixed_ratio) return offered;
  std::uint64_t sold = 0;
  for (const auto& [id, customer] : customers_) sold += controller_.bought(id).ppm;
  const std::uint64_t unsold = Share::kWholePpm - std::min<std::uint64_t>(sold, Share::kWholePpm);
  return std::min(offered, Share{static_cast<std::uint32_t>(unsold)});
}

bool Market::sell(TenantId id, Share wanted, double target) {
  if (wanted > for_sale() || !controller_.sell(id, wanted, target)) return false;
  customers_[id] = {};
  return true;
}

bool Market::resize(TenantId id, Share bought) {
  const Share before = controller_.bought(id);
  if (bought > before && bought.ppm - before.ppm > for_sale().ppm) return false;
  return controller_.resize(id, bought);
}

void Market::take_over(TenantId id, Share bought, Share cap, double target) {
  if (knows(id)) return;
  if (controller_.take_over(id, bought, std::min({cap, bought, controller_.free()}), target))
    customers_[id] = {};
}

void Market::remove(TenantId id) {
  controller_.remove(id);
  customers_.erase(id);
}

std::vector<TenantId> Market::tenants() const {
  std::vector<TenantId> ids;
  for (const auto& [id, customer] : customers_) ids.push_back(id);
  return ids;
}

void Market::look(const std::vector<TenantReading>& readings, Time now) {
  const Duration passed = looked_ ? now - *looked_ : kPeriod;
  const std::int64_t seconds = std::max<std::int64_t>((passed + kPeriod / 2) / kPeriod, 1);
  looked_ = now;
  next_look_ = next_second(now);
  std::vector<Observation> seen;
  for (const TenantReading& reading : readings) {
    const auto found = customers_.find(reading.id);
    if (found == customers_.end()) continue;
    const auto before = std::exchange(found->second.last, reading);
    if (before) seen.push_back(between(*before, reading, seconds));
  }
  if (resting_) return;
  report_ = controller_.second(seen);
  if (report_.warning) ++totals_.warnings;
  for (const auto& load : report_.loads) {
    if (load.shortfall > 0) ++customers_.at(load.id).broken;
  }
}

void Market::set_resting(bool resting) {
  if (std::exchange(resting_, resting) == resting) return;
  tell_all_ = true;
  if (resting) report_ = {};
}

std::vector<TenantCap> Market::take_caps() {
  std::vector<TenantCap> caps;
  const auto changes = controller_.take_changes();
  if (std::exchange(tell_all_, false)) {
    for (const auto& [id, customer] : customers_) {
      caps.push_back({id, resting_ ? std::nullopt : std::optional(controller_.cap(id))});
    }
    return caps;
  }
  if (resting_) return caps;
  for (const auto& change : changes) caps.push_back({change.id, change.cap});
  totals_.changes += caps.size();
  return caps;
}

std::optional<sched::oversell::Load> Market::load(TenantId id) const {
  for (const auto& load : controller_.loads()) {
    if (load.id == id) return load;
  }
  return std::nullopt;
}

std::uint64_t Market::broken_seconds(TenantId id) const {
  const auto found = customers_.find(id);
  return found == customers_.end() ? 0 : found->second.broken;
}

}  // namespace fairgv::daemon
