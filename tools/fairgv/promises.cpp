#include "tools/fairgv/promises.hpp"

#include <algorithm>

#include "sched/policies/registry.hpp"

namespace fairgv::tools {
namespace {

/// "min, class": those among them that a policy of this name does not keep. Empty: it keeps all, or is one
/// that this program does not know.
std::string unkept_by(const std::string& policy, const Promises& promises) {
  const sched::PolicyInfo* const info = sched::find_policy(policy);
  if (info == nullptr) return "";
  sched::TenantAttributes attributes;  // whichever differ from the defaults
  if (promises.has_min()) attributes.min = {sched::Duration(1), sched::Duration(1)};
  if (promises.has_max()) attributes.max = {};
  if (promises.has_service()) attributes.service = sched::ServiceClass::batch;
  return sched::unkept_promises(*info, attributes);
}

}  // namespace

std::string unkept_promises(const control::Report& report, const std::string& policy) {
  std::string named;
  for (const control::Report::Tenant& tenant : report.tenants) {
    const std::string unkept = unkept_by(policy, {tenant.min, tenant.max, tenant.service});
    if (!unkept.empty()) named += (named.empty() ? "" : ", ") + tenant.tenant + " (" + unkept + ")";
  }
  return named.empty() ? "" : "policy " + policy + " does not keep what is promised to " + named;
}

bool is_held_back(const control::Report::Tenant& tenant) {
  return std::any_of(tenant.use.begin(), tenant.use.end(), [](const auto& use) { return use.held_back; });
}

std::string promises_text(const Promises& promises) {
  std::string text;
  const auto add = [&](bool differs, const std::string& part) {
    if (differs) text += (text.empty() ? "" : ", ") + part;
  };
  add(promises.has_min(), "min " + promises.min);
  add(promises.has_max(), "max " + promises.max);
  add(promises.has_service(), "class " + promises.service);
  return text;
}

}  // namespace fairgv::tools
