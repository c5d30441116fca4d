// The registry's part that decides on promises (tenants.hpp).
#include <algorithm>

#include "runtime/daemon/tenants/tenants.hpp"
#include "sched/promises/promises.hpp"

namespace fairgv::daemon {

/// Whether the configuration lets programs of the tenant ask for this.
Result<void> TenantRegistry::allows(const Tenant& tenant, const session::TenantWish& wish,
                                    bool administrator) const {
  if (administrator) return {};
  const TenantRule rule = rules_.of(tenant.name, tenant.class_name);
  const sched::Share most = rule.allow_min.value_or(rules_.allow_min);
  if (wish.min && !rule.min && wish.min->share() > most) {
    return Error{"tenant '" + tenant.name + "' may not have a guarantee of " + session::to_text(*wish.min) +
                 ": the administrator allows " +
                 (most.ppm == 0 ? std::string("none") : "up to " + session::to_text(most)) + " (allow_min)"};
  }
  if (!wish.service || rule.service) return {};
  const std::string service = session::to_text(wish.service->service);
  const auto& allowed = rules_.allow_service;
  if (std::find(allowed.begin(), allowed.end(), service) != allowed.end()) return {};
  return Error{"tenant '" + tenant.name + "' may not be of the class " + service +
               ": the administrator allows others (allow_class)"};
}

/// The devices on which the tenant's guarantee is, or would be, promised: all that its programs may use, but
/// of those among which the daemon chooses only the ones where its sessions are.
std::uint64_t TenantRegistry::promised_on(const DevicesWanted& wanted, std::uint64_t homes) const {
  return (wanted.best ? 0 : in_books(wanted.devices)) | homes;
}

/// The same hardware counts once, as the first of its devices.
std::uint64_t TenantRegistry::in_books(std::uint64_t devices) const {
  if (devices == kEveryDevice) return devices;
  std::uint64_t books = 0;
  for (std::uint32_t device = 0; device < 64; ++device) {
    if ((devices >> device & 1U) == 0) continue;
    books |= std::uint64_t{1} << (device < hardware_.size() ? hardware_[device] : device);
  }
  return books;
}

/// The guarantees of other tenants: of those that run, of those that the configuration names whether they
/// run or not, and of the batch class.
PromiseSums TenantRegistry::promised_to_others(const std::string& name) const {
  PromiseSums sums(sched::Promises::kBatchFloor.share());
  for (const auto& [each, tenant] : tenants_) {
    const bool pinned = rules_.by_name.contains(each) && rules_.by_name.at(each).min;
    if (each == name || !tenant.runs() || pinned) continue;
    sums.add(tenant.attributes.min.share(),
             promised_on(rules_.devices_of(each, tenant.class_name), tenant.homes));
  }
  for (const auto& [each, rule] : rules_.by_name) {
    if (each == name || !rule.min) continue;
    const auto found = tenants_.find(each);
    const bool runs = found != tenants_.end() && found->second.runs();
    sums.add(rule.min->share(), promised_on(rules_.devices_of(each), runs ? found->second.homes : 0));
  }
  return sums;
}

PromiseSums TenantRegistry::kept_for_absent() const {
  PromiseSums sums(sched::Share{});
  for (const auto& [each, rule] : rules_.by_name) {
    if (!rule.min) continue;
    const auto found = tenants_.find(each);
    if (found != tenants_.end() && found->second.runs()) continue;
    sums.add(rule.min->share(), promised_on(rules_.devices_of(each), 0));
  }
  return sums;
}

TenantRegistry::Promised TenantRegistry::promised() const {
  return {promised_to_others("").most(), rules_.promise_limit};
}

/// Whether the tenant's promises can be kept beside all others: on each device where it lives or may live,
/// or, where the daemon is to choose its first, on one of those.
Result<void> TenantRegistry::fits(const Tenant& tenant) const {
  const sched::TenantAttributes& wanted = tenant.attributes;
  const sched::Share own = wanted.min.share();
  if (own.ppm == 0) return {};
  const std::string wants =
      "tenant '" + tenant.name + "' cannot have a guarantee of " + session::to_text(wanted.min) + ": ";
  if (own > wanted.max) return Error{wants + "its ceiling is " + session::to_text(wanted.max)};
  const DevicesWanted devices = rules_.devices_of(tenant.name, tenant.class_name);
  const PromiseSums others = promised_to_others(tenant.name);
  const bool choice = devices.best && tenant.homes == 0 && !hardware_.empty();
  sched::Share promised = others.most(promised_on(devices, tenant.homes));
  if (choice) promised.ppm = ~std::uint32_t{0};
  for (std::uint32_t device = 0; choice && device < hardware_.size(); ++device) {
    if (devices.may_be(device)) promised = std::min(promised, others.on(hardware_[device]));
  }
  if (std::uint64_t{promised.ppm} + own.ppm <= rules_.promise_limit.ppm) return {};
  const sched::Share left{rules_.promise_limit.ppm - std::min(promised.ppm, rules_.promise_limit.ppm)};
  return Error{wants + (left.ppm == 0 ? std::string("nothing") : session::to_text(left)) +
               (choice ? " at most is left on any device of the " : " is left of the ") +
               session::to_text(rules_.promise_limit) + " that may be promised (promise_limit)"};
}

void TenantRegistry::make_background(Tenant& tenant) const {
  tenant.set.min = sched::Reservation{};
  tenant.set.service = session::ServiceWish{sched::ServiceClass::batch};
  tenant.attributes = attributes_of(tenant);
}

void TenantRegistry::set_homes(TenantId id, std::uint64_t devices) {
  for (auto& [name, tenant] : tenants_) {
    if (tenant.id == id) tenant.homes = devices;
  }
}

}  // namespace fairgv::daemon
