#include "runtime/daemon/tenants/tenants.hpp"

#include <algorithm>

#include "runtime/daemon/tenants/account.hpp"

namespace fairgv::daemon {
namespace {

std::string user_text(uid_t uid) {
  return "user " + std::to_string(uid);
}

std::string applicant_text(const TenantRegistry::Applicant& who) {
  return who.subordinate ? account_text(*who.subordinate, who.uid) : user_text(who.uid);
}

}  // namespace

TenantRule TenantRegistry::rule_of(const std::string& name) const {
  const auto found = tenants_.find(name);
  return rules_.of(name, found == tenants_.end() ? std::string() : found->second.class_name);
}

/// The tenant with what is remembered of it, or a new one.
Tenant TenantRegistry::known(const std::string& name) const {
  const auto found = tenants_.find(name);
  if (found != tenants_.end()) return found->second;
  Tenant tenant;
  tenant.name = name;
  return tenant;
}

/// The weight that the configuration gives to a program that asks for `asked`.
std::uint32_t TenantRegistry::configured_weight(const TenantRule& rule,
                                                std::optional<std::uint32_t> asked) const {
  if (rule.weight) return *rule.weight;
  const std::uint32_t cap = std::min(rules_.max_weight, rule.max_weight.value_or(sched::kMaxWeight));
  return std::min(asked.value_or(rules_.default_weight), cap);
}

sched::TenantAttributes TenantRegistry::attributes_of(const Tenant& tenant) const {
  const TenantRule rule = rules_.of(tenant.name, tenant.class_name);
  const session::ServiceWish service = tenant.set.service.value_or(
      rule.service.value_or(tenant.asked.service.value_or(session::ServiceWish{})));
  sched::TenantAttributes attributes;
  attributes.weight = tenant.set.weight.value_or(configured_weight(rule, tenant.asked.weight));
  attributes.min =
      tenant.set.min.value_or(rule.min.value_or(tenant.asked.min.value_or(sched::Reservation{})));
  attributes.max = tenant.set.max.value_or(
      std::min(rule.max.value_or(sched::kWholeDevice), tenant.asked.max.value_or(sched::kWholeDevice)));
  attributes.service = service.service;
  attributes.response = service.response;
  attributes.timegraph = task_of(tenant);
  attributes.host_weight = tenant.host_weight;
  attributes.units_per_second = rule.target.value_or(0);
  return attributes;
}

/// Whether the name is for this applicant, regardless of who uses it now.
Result<void> TenantRegistry::may_use(const std::string& name, const Applicant& who) const {
  const auto refuse = [&](const std::string& why) {
    return Error{"tenant '" + name + "' " + why + " and you are " + applicant_text(who) +
                 ": choose another name with FAIRGV_TENANT"};
  };
  const auto uid = rules_.of(name).uid;
  if (uid) {
    if (*uid != who.uid && uid != who.subordinate) return refuse("is reserved for " + user_text(*uid));
  } else if (!who.assigned && !who.administrator) {
    if (who.namesake && *who.namesake != who.uid) {
      return refuse("is named after " + user_text(*who.namesake));
    }
    // Names after the same user by number, by another login or by a subordinate id are second names, too.
    if (!rules_.free_names && !who.by_default) {
      return refuse("is not reserved for anybody (names in [tenants])");
    }
  }
  const auto found = tenants_.find(name);
  if (found == tenants_.end() || found->second.sessions == 0) return {};
  const Tenant& tenant = found->second;
  const bool together = tenant.assigned && who.assigned;
  if (tenant.uid != who.uid && !together) return refuse("is in use by " + user_text(tenant.uid));
  return {};
}

Result<void> TenantRegistry::may_join(const std::string& name, const Applicant& who) const {
  if (who.runs_already) return {};
  if (auto may = may_use(name, who); !may) return may;
  const auto found = tenants_.find(name);
  if (found == tenants_.end() || found->second.sessions == 0) return {};
  const std::uint32_t limit =
      rules_.of(name, found->second.class_name).session_limit.value_or(rules_.session_limit);
  if (found->second.sessions >= limit) {
    return Error{"tenant '" + name + "' already has " + std::to_string(found->second.sessions) +
                 " sessions, which is its limit: wait for one to end"};
  }
  return {};
}

Result<Tenant> TenantRegistry::with_session(Tenant tenant, const Applicant& who,
                                            const session::TenantWish& wish,
                                            std::optional<MemorySize> asked_memory) const {
  // A name may pass to another user, whom the previous user's pause does not bind.
  if (tenant.uid != who.uid && tenant.paused && !tenant.paused->administrator) tenant.paused.reset();
  tenant.uid = who.uid;
  if (!tenant.runs() && !who.runs_already) tenant.class_name.clear();
  if (!who.class_name.empty()) tenant.class_name = who.class_name;
  if (!who.runs_already) tenant.assigned = who.assigned;
  ++tenant.sessions;
  if (!who.runs_already) ++tenant.counts.sessions;
  tenant.asked.update(wish);
  if (asked_memory) tenant.asked_memory = asked_memory;
  tenant.attributes = attributes_of(tenant);
  if (who.runs_already) return tenant;
  FAIRGV_CHECK(allows(tenant, wish, who.administrator));
  if (auto fit = fits(tenant); !fit) {
    if (rules_.refuse_overbooked || tenant.attributes.min.share() > tenant.attributes.max) return fit.error();
    make_background(tenant);
  }
  return with_reserve(std::move(tenant), rules_.refuse_overbooked);
}

Result<Tenant> TenantRegistry::join(const std::string& name, const Applicant& who,
                                    const session::TenantWish& wish, std::optional<MemorySize> asked_memory) {
  FAIRGV_CHECK(may_join(name, who));
  FAIRGV_TRY(tenant, with_session(known(name), who, wish, asked_memory));
  if (tenant->id == TenantId{}) tenant->id = TenantId{++last_id_};
  return tenants_[name] = tenant.value();
}

TenantRegistry::Prospect TenantRegistry::would_admit(const std::string& name, const Applicant& who,
                                                     const session::TenantWish& wish) const {
  Tenant tenant = known(name);
  const auto may = may_join(name, who);
  const auto joined = may ? with_session(tenant, who, wish, {}) : Result<Tenant>(may.error());
  if (joined) return {joined->attributes, {}, tenant.id};
  if (!tenant.runs()) tenant.class_name = who.class_name;
  return {attributes_of(tenant), joined.error(), tenant.id};
}

void TenantRegistry::retire(TenantId id) {
  for (auto& [name, tenant] : tenants_) {
    if (tenant.id != id || !tenant.runs()) continue;
    ++tenant.ending;
    if (tenant.runs()) return;
    tenant.asked = {};
    tenant.set = {};
    tenant.asked_memory.reset();
    tenant.set_memory.reset();
    tenant.in_background = false;
    tenant.homes = 0;
    return;
  }
}

void TenantRegistry::count_fault(TenantId id, Fault fault) {
  for (auto& [name, tenant] : tenants_) {
    if (tenant.id != id) continue;
    switch (fault) {
      case Fault::crash:
        ++tenant.counts.crashes;
        return;
      case Fault::watchdog:
        ++tenant.counts.watchdog;
        return;
      case Fault::violation:
        ++tenant.counts.violations;
        return;
    }
  }
}

void TenantRegistry::note_kill(TenantId id, Probation::Time now) {
  for (auto& [name, tenant] : tenants_) {
    if (tenant.id == id) tenant.probation.killed(now);
  }
}

void TenantRegistry::note_good_conduct(TenantId id) {
  for (auto& [name, tenant] : tenants_) {
    if (tenant.id == id) tenant.probation.behaved();
  }
}

void TenantRegistry::leave(TenantId id) {
  for (auto& [name, tenant] : tenants_) {
    if (tenant.id != id || tenant.ending == 0) continue;
    --tenant.ending;
    --tenant.sessions;
    return;
  }
}

Result<Tenant*> TenantRegistry::find_for_change(const std::string& name, uid_t by, bool administrator,
                                                const char* what) {
  const auto found = tenants_.find(name);
  if (found == tenants_.end() || !found->second.runs()) {
    return Error{"there is no tenant '" + name + "' with a running program: see 'fairgv ps'"};
  }
  Tenant& tenant = found->second;
  if (administrator || (by == tenant.uid && !tenant.assigned)) return &tenant;
  if (tenant.assigned) {
    return Error{"tenant '" + name +
                 "' is for whoever fits a rule of the configuration: only the administrator may set its " +
                 what};
  }
  return Error{"tenant '" + name + "' belongs to " + user_text(tenant.uid) +
               ": only that user or the administrator may set its " + what};
}

Result<Tenant> TenantRegistry::set(const std::string& name, const session::TenantWish& wish, uid_t by,
                                   bool administrator) {
  FAIRGV_TRY(found, find_for_change(name, by, administrator, wish.weight ? "weight" : "promises"));
  Tenant changed = *found.value();
  (administrator ? changed.set : changed.asked).update(wish);
  if (changed.set.max && wish.max) changed.set.max = std::min(*changed.set.max, *wish.max);
  FAIRGV_CHECK(allows(changed, wish, administrator));
  changed.attributes = attributes_of(changed);
  const sched::TenantAttributes& now = changed.attributes;
  const auto refuse = [&](const std::string& what, const std::string& allowed) {
    return Error{"tenant '" + name + what + ": the administrator allows " + allowed};
  };
  if (wish.weight && now.weight != *wish.weight) {
    return refuse("' may not have weight " + std::to_string(*wish.weight), std::to_string(now.weight));
  }
  if (wish.min && now.min != *wish.min) {
    return refuse("' may not have a guarantee of " + session::to_text(*wish.min), session::to_text(now.min));
  }
  if (wish.max && now.max != *wish.max) {
    return refuse("' may not have a ceiling of " + session::to_text(*wish.max), session::to_text(now.max));
  }
  if (wish.service && now.service != wish.service->service) {
    return refuse("' may not be of the class " + session::to_text(wish.service->service),
                  session::to_text(now.service));
  }
  FAIRGV_CHECK(fits(changed));
  FAIRGV_TRY(admitted, with_reserve(changed, wish.min || !changed.in_background));
  return *found.value() = admitted.value();
}

Result<Tenant> TenantRegistry::find_to(const char* verb, const std::string& name, uid_t by,
                                       bool administrator) const {
  const auto found = tenants_.find(name);
  if (found == tenants_.end()) return Error{"there is no tenant '" + name + "': see 'fairgv ps'"};
  const Tenant& tenant = found->second;
  if (administrator || (by == tenant.uid && !tenant.assigned)) return tenant;
  if (tenant.assigned) {
    return Error{"tenant '" + name +
                 "' is for whoever fits a rule of the configuration: only the administrator may " + verb +
                 " it"};
  }
  return Error{"tenant '" + name + "' belongs to " + user_text(tenant.uid) +
               ": only that user or the administrator may " + verb + " it"};
}

void TenantRegistry::set_pause(TenantId id, const std::optional<control::Pause>& pause) {
  for (auto& [name, tenant] : tenants_) {
    if (tenant.id == id)
      tenant.paused = pause ? std::optional(control::stronger(tenant.paused, *pause)) : pause;
  }
}

void TenantRegistry::configure(TenantRules rules) {
  rules_ = std::move(rules);
  for (auto& [name, tenant] : tenants_) tenant.attributes = attributes_of(tenant);
}

Tenant TenantRegistry::restore(const Tenant& known) {
  Tenant& tenant = tenants_[known.name];
  tenant = known;
  tenant.id = TenantId{++last_id_};
  tenant.sessions = 0;
  tenant.attributes = attributes_of(tenant);
  return tenant;
}

const Tenant* TenantRegistry::find(TenantId id) const {
  for (const auto& [name, tenant] : tenants_) {
    if (tenant.id == id) return &tenant;
  }
  return nullptr;
}

const Tenant* TenantRegistry::find(const std::string& name) const {
  const auto found = tenants_.find(name);
  return found == tenants_.end() ? nullptr : &found->second;
}

std::vector<Tenant> TenantRegistry::all() const {
  std::vector<Tenant> list;
  list.reserve(tenants_.size());
  for (const auto& [name, tenant] : tenants_) list.push_back(tenant);
  return list;
}

std::set<std::string> TenantRegistry::names() const {
  std::set<std::string> list;
  for (const auto& [name, tenant] : tenants_) list.insert(name);
  for (const auto& [name, rule] : rules_.by_name) list.insert(name);
  return list;
}

void TenantRegistry::forget(TenantId id) {
  std::erase_if(tenants_,
                [&](const auto& entry) { return entry.second.id == id && entry.second.sessions == 0; });
}

}  // namespace fairgv::daemon
