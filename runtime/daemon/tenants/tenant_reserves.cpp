// The registry's part of TimeGraph: the specification's entries, and admission control (section 3) of their
// reserves. The policy's own admission control does not count what passes here, since it knows tenants for
// longer than they run.
#include <algorithm>
#include <cmath>

#include "runtime/daemon/tenants/tenant_reserves.hpp"
#include "sched/policies/timegraph/admission.hpp"
#include "sched/policies/timegraph/priorities.hpp"

namespace fairgv::daemon {
namespace {

/// The reserves of the tenants that run, of one device.
class ReserveSum {
 public:
  explicit ReserveSum(sched::Share limit) : limit_(limit), admission_(limit) {}

  /// False: the tenant's reserve does not fit beside those that were added before. Tenants with a shared
  /// reserve add it once.
  bool add(const sched::TenantAttributes& tenant) {
    constexpr std::uint64_t kShared = std::uint64_t{1} << 32;
    const sched::Reservation& reserve = tenant.timegraph_reserve();
    if (reserve.empty()) return true;
    const std::uint32_t shared = tenant.timegraph.shared_reserve;
    return admission_.admit(shared != 0 ? kShared | shared : ++added_, reserve);
  }

  Error refusal(const Tenant& tenant) const {
    const sched::Reservation& reserve = tenant.attributes.timegraph_reserve();
    std::string wanted = session::to_text(reserve);
    if (!wanted.ends_with('%')) wanted += " (" + session::to_text(reserve.share()) + ")";
    constexpr double kRounding = 1e-3;
    const double left_ppm = (limit_.fraction() - admission_.total()) * sched::Share::kWholePpm + kRounding;
    const sched::Share left{static_cast<std::uint32_t>(std::floor(std::max(left_ppm, 0.0)))};
    return Error{"tenant '" + tenant.name + "' cannot have a reserve of " + wanted + ": " +
                 (left.ppm == 0 ? std::string("nothing") : session::to_text(left)) + " is left of the " +
                 session::to_text(limit_) + " that reserves may have (limit in [timegraph])"};
  }

 private:
  const sched::Share limit_;
  sched::Admission admission_;
  std::uint32_t added_ = 0;
};

}  // namespace

/// The tenant's entry in the specification, as admission control has left it.
sched::TimeGraphTask TenantRegistry::task_of(const Tenant& tenant) const {
  const auto entry = rules_.timegraph.tasks.find(tenant.name);
  sched::TimeGraphTask task = entry == rules_.timegraph.tasks.end() ? sched::TimeGraphTask{} : entry->second;
  task.admitted = true;
  task.foreground = in_front_.contains(tenant.name);
  if (!tenant.in_background) return task;
  task.reserve = sched::Reservation{};
  task.shared_reserve = 0;
  task.automatic = false;
  task.priority = sched::kLowestPriority;
  return task;
}

/// The tenant, about to run, with its reserve if that fits beside those of others; else an Error, or the
/// tenant with the Background reserve.
Result<Tenant> TenantRegistry::with_reserve(Tenant tenant, bool or_refuse) const {
  tenant.in_background = false;
  tenant.attributes = attributes_of(tenant);
  if (!reserves_count_ || tenant.attributes.timegraph_reserve().empty()) return tenant;
  ReserveSum sum(rules_.timegraph.limit);
  for (const auto& [name, other] : tenants_) {
    if (name != tenant.name && other.runs()) sum.add(other.attributes);
  }
  if (sum.add(tenant.attributes)) return tenant;
  if (or_refuse) return sum.refusal(tenant);
  tenant.in_background = true;
  tenant.attributes = attributes_of(tenant);
  return tenant;
}

std::vector<std::string> TenantReserves::admit(bool reserves_count) {
  registry_.reserves_count_ = reserves_count;
  std::vector<Tenant*> running;
  for (auto& [name, tenant] : registry_.tenants_) {
    if (tenant.runs()) running.push_back(&tenant);
  }
  std::sort(running.begin(), running.end(), [](const Tenant* a, const Tenant* b) {
    return std::pair(a->in_background, a->id.value) < std::pair(b->in_background, b->id.value);
  });
  ReserveSum sum(registry_.rules_.timegraph.limit);
  std::vector<std::string> lost;
  for (Tenant* tenant : running) {
    const bool had_none = std::exchange(tenant->in_background, false);
    tenant->attributes = registry_.attributes_of(*tenant);
    if (!reserves_count || sum.add(tenant->attributes)) continue;
    if (!had_none) lost.push_back(sum.refusal(*tenant).message + ": it has the Background reserve now");
    tenant->in_background = true;
    tenant->attributes = registry_.attributes_of(*tenant);
  }
  return lost;
}

std::vector<Tenant> TenantReserves::bring_to_front(std::set<std::string> names) {
  const std::set<std::string> before = std::exchange(registry_.in_front_, std::move(names));
  std::vector<Tenant> changed;
  for (auto& [name, tenant] : registry_.tenants_) {
    if (before.contains(name) == registry_.in_front_.contains(name)) continue;
    tenant.attributes = registry_.attributes_of(tenant);
    changed.push_back(tenant);
  }
  return changed;
}

}  // namespace fairgv::daemon
