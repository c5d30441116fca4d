#include "sched/oversell/controller.hpp"

#include <algorithm>
#include <unordered_map>

namespace fairgv::sched::oversell {

Share Controller::for_sale() const {
  if (settings_.fixed_ratio) return settings_.fixed_ratio->for_sale(loads());
  return oversell::for_sale(loads(), detector_.quiet_seconds(), settings_.sell_up_to);
}

bool Controller::sell(TenantId id, Share initial, double target) {
  if (initial.ppm == 0 || initial > for_sale() || tenants_.contains(id)) return false;
  Share cap = initial;
  if (settings_.fixed_ratio) {
    cap = settings_.fixed_ratio->cap(initial);
  } else {
    Division divided = division();
    if (!make_room(divided, initial)) return false;
    divided.free.ppm -= initial.ppm;
    adopt(divided);
  }
  tenants_.emplace(id, Tenant{Monitor(id, initial, target, cap), cap});
  return true;
}

bool Controller::take_over(TenantId id, Share initial, Share cap, double target) {
  if (cap > initial || tenants_.contains(id)) return false;
  if (settings_.fixed_ratio) {
    cap = settings_.fixed_ratio->cap(initial);
  } else {
    if (cap > free_) return false;
    free_.ppm -= cap.ppm;
  }
  tenants_.emplace(id, Tenant{Monitor(id, initial, target, cap), cap});
  return true;
}

bool Controller::resize(TenantId id, Share initial) {
  const auto found = tenants_.find(id);
  if (found == tenants_.end() || initial.ppm == 0) return false;
  Tenant& tenant = found->second;
  const Share before = bought(id);
  const Share more{initial.ppm > before.ppm ? initial.ppm - before.ppm : 0};
  if (more > for_sale()) return false;
  Share cap = tenant.cap;
  if (settings_.fixed_ratio) {
    cap = settings_.fixed_ratio->cap(initial);
  } else if (more.ppm > 0) {
    Division divided = division();
    if (!make_room(divided, more)) return false;
    divided.free.ppm -= more.ppm;
    adopt(divided);
    cap.ppm = tenant.cap.ppm + more.ppm;
  } else {
    cap = std::min(cap, initial);
    free_.ppm += tenant.cap.ppm - cap.ppm;
  }
  tenant.changed = tenant.changed || cap != tenant.cap;
  tenant.cap = cap;
  tenant.monitor.set_initial(initial, cap);
  return true;
}

void Controller::remove(TenantId id) {
  const auto found = tenants_.find(id);
  if (found == tenants_.end()) return;
  if (!settings_.fixed_ratio) free_.ppm += found->second.cap.ppm;
  tenants_.erase(found);
  detector_.forget(id);
}

void Controller::set_target(TenantId id, double target) {
  if (const auto found = tenants_.find(id); found != tenants_.end()) found->second.monitor.set_target(target);
}

Report Controller::second(std::span<const Observation> seen) {
  std::unordered_map<TenantId, Observation> by_id;
  for (const Observation& each : seen) by_id.insert_or_assign(each.id, each);
  for (auto& [id, tenant] : tenants_) tenant.monitor.observe(by_id[id], tenant.cap);
  Report report;
  report.loads = loads();
  if (settings_.fixed_ratio) return report;
  report.overloaded = detector_.look(report.loads);
  report.warning = report.overloaded.size() > 1;
  Division divided = division();
  for (const Overload& overload : report.overloaded) {
    const Share given = mitigate(divided, overload);
    if (overload.shortfall > 0 && given.ppm == 0) report.warning = true;
  }
  adopt(divided);
  return report;
}

std::vector<CapChange> Controller::take_changes() {
  std::vector<CapChange> changes;
  for (auto& [id, tenant] : tenants_) {
    if (!tenant.changed) continue;
    changes.push_back({id, tenant.cap});
    tenant.changed = false;
  }
  return changes;
}

Share Controller::cap(TenantId id) const {
  const auto found = tenants_.find(id);
  return found != tenants_.end() ? found->second.cap : Share{};
}

Share Controller::bought(TenantId id) const {
  const auto found = tenants_.find(id);
  return found != tenants_.end() ? found->second.monitor.load().initial : Share{};
}

std::vector<Load> Controller::loads() const {
  std::vector<Load> loads;
  for (const auto& [id, tenant] : tenants_) loads.push_back(tenant.monitor.load());
  return loads;
}

Division Controller::division() const {
  Division divided{{}, free_};
  for (const auto& [id, tenant] : tenants_) divided.parts.push_back({tenant.monitor.load(), tenant.cap});
  return divided;
}

void Controller::adopt(const Division& division) {
  free_ = division.free;
  for (const Division::Part& part : division.parts) {
    Tenant& tenant = tenants_.at(part.load.id);
    if (tenant.cap == part.cap) continue;
    tenant.cap = part.cap;
    tenant.changed = true;
  }
}

}  // namespace fairgv::sched::oversell
