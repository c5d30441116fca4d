#include "runtime/daemon/tenants/admission.hpp"

#include "runtime/daemon/config/options.hpp"
#include "runtime/daemon/tenants/peers/peer_process.hpp"
#include "runtime/daemon/tenants/peers/user_tenant.hpp"

namespace fairgv::daemon {
namespace {

TenantRegistry::Applicant applicant_for(const Membership& membership, const Person& person,
                                        const TenantRules& rules, Owners& owners) {
  auto named_after = namesake(membership.tenant);
  if (named_after) named_after = counting_for(*named_after, rules, owners);
  return {.uid = person.owner.value_or(person.uid),
          .administrator = is_administrator(person.uid),
          .namesake = named_after,
          .assigned = membership.assigned,
          .class_name = membership.class_name,
          .subordinate = person.owner ? std::optional(person.uid) : std::nullopt,
          .by_default = membership.tenant == person.user_tenant};
}

}  // namespace

Result<Admission> find_admission(const TenantRules& rules, Owners& owners, const Guest& guest) {
  const Person person = person_behind(guest.socket, guest.peer, guest.account.owner, needs_cgroup(rules));
  FAIRGV_TRY(membership, find_membership(rules, person, guest.asked));
  return Admission{membership->tenant, applicant_for(membership.value(), person, rules, owners)};
}

control::WhoAmI look_at(const TenantRules& rules, const TenantRegistry& tenants, Owners& owners,
                        const Guest& guest) {
  const Person person = person_behind(guest.socket, guest.peer, guest.account.owner, true);
  control::WhoAmI who;
  who.uid = person.uid;
  who.user = look_up_user(guest.peer.uid, guest.peer.gid).name;
  if (person.owner) who.counts_for = look_up_user(*person.owner, guest.peer.gid).name;
  who.groups.assign(person.groups.begin(), person.groups.end());
  if (person.cgroup) {
    who.cgroup = person.cgroup.value();
    who.container = container_label(person.cgroup.value());
  }
  who.administrator = guest.account.administrator;
  const auto membership = find_membership(rules, person, guest.asked);
  if (!membership) {
    who.refusal = membership.error().message;
    return who;
  }
  if (membership->rule) {
    who.rule = match_title(*membership->rule) + " (" + rules.matches[*membership->rule].place + ")";
  }
  who.tenant = membership->tenant;
  const auto prospect =
      tenants.would_admit(who.tenant, applicant_for(membership.value(), person, rules, owners), guest.wish);
  if (prospect.refusal) who.refusal = prospect.refusal->message;
  const TenantRule rule = tenants.rule_of(who.tenant, membership->class_name);
  const std::string& class_name = rule.class_name.empty() ? membership->class_name : rule.class_name;
  if (!class_name.empty()) who.class_name = class_name;
  const sched::TenantAttributes& its = prospect.attributes;
  who.weight = its.weight;
  who.min = session::to_text(its.min);
  who.max = session::to_text(its.max);
  who.service = session::to_text(session::ServiceWish{its.service, its.response});
  return who;
}

}  // namespace fairgv::daemon
