#include "runtime/daemon/tenants/unkept_promises.hpp"

#include <cstddef>

#include "sched/policies/registry.hpp"

namespace fairgv::daemon {
namespace {

/// Tenants that a warning names.
constexpr std::size_t kMostNamed = 3;

}  // namespace

std::optional<std::string> unkept_warning(const std::string& policy,
                                          const std::map<std::string, sched::TenantAttributes>& promised) {
  const sched::PolicyInfo* const info = sched::find_policy(policy);
  if (info == nullptr) return std::nullopt;
  std::string named;
  std::size_t count = 0;
  for (const auto& [tenant, attributes] : promised) {
    const std::string unkept = sched::unkept_promises(*info, attributes);
    if (unkept.empty() || ++count > kMostNamed) continue;
    named += (named.empty() ? "" : ", ") + tenant + " (" + unkept + ")";
  }
  if (count == 0) return std::nullopt;
  if (count > kMostNamed) named += " and " + std::to_string(count - kMostNamed) + " more";
  return "policy " + policy + " does not keep what is promised to " + named + ": policy " +
         std::string(sched::kDefaultPolicy) + " does";
}

}  // namespace fairgv::daemon
