#include "runtime/daemon/adjustments.hpp"

#include <set>
#include <string>
#include <utility>

#include "runtime/base/near_word.hpp"
#include "runtime/daemon/tenants/unkept_promises.hpp"
#include "sched/policies/registry.hpp"

namespace fairgv::daemon {

using control::ControlRequest;

namespace {

/// "weight 3, min 20%".
std::string text_of(const session::TenantWish& wish) {
  std::string text;
  const auto add = [&text](const char* name, const std::string& value) {
    text += (text.empty() ? "" : ", ") + std::string(name) + " " + value;
  };
  if (wish.weight) add("weight", std::to_string(*wish.weight));
  if (wish.min) add("min", session::to_text(*wish.min));
  if (wish.max) add("max", session::to_text(*wish.max));
  if (wish.service) add("class", session::to_text(*wish.service));
  return text;
}

}  // namespace

/// Of what the tenant has just been promised, what the policies in force do not keep.
Adjustments::Warnings Adjustments::warnings_of(const Tenant& tenant, const session::TenantWish& wish) const {
  sched::TenantAttributes promised;
  if (wish.min) promised.min = tenant.attributes.min;
  if (wish.max) promised.max = tenant.attributes.max;
  if (wish.service) promised.service = tenant.attributes.service;
  std::set<std::string> policies;
  for (const DeviceSharing& device : needs_.dispatch.looks().devices()) policies.insert(device.policy);
  Warnings warnings;
  for (const std::string& policy : policies) {
    if (auto warning = unkept_warning(policy, {{tenant.name, promised}})) {
      warnings.push_back(std::move(*warning));
    }
  }
  return warnings;
}

Result<Adjustments::Warnings> Adjustments::set(const ControlRequest& request, const Account& by,
                                               const std::string& by_text) {
  Warnings warnings;
  if (!request.wish.empty() && (request.memory || request.wish.max)) {
    // All of it or nothing: a copy of the registry shows whether all is allowed.
    TenantRegistry trial = needs_.tenancies.registry();
    FAIRGV_TRY(changed, trial.set(request.tenant, request.wish, by.owner, by.administrator));
    FAIRGV_CHECK(needs_.markets.may_change(changed->id, changed->attributes.max));
    if (request.memory) {
      FAIRGV_CHECK(trial.set_memory(request.tenant, *request.memory, by.owner, by.administrator,
                                    needs_.tenancies.memory().capacities()));
    }
  }
  if (!request.wish.empty()) {
    FAIRGV_TRY(tenant,
               needs_.tenancies.registry().set(request.tenant, request.wish, by.owner, by.administrator));
    needs_.tenancies.apply_attributes(tenant.value());
    needs_.markets.change(tenant.value());
    needs_.log.info(by, "tenant {}: {}, set by {}", tenant->name, text_of(request.wish), by_text);
    warnings = warnings_of(tenant.value(), request.wish);
  }
  if (request.memory) {
    FAIRGV_CHECK(set_memory(request, by, by_text));
  }
  return warnings;
}

Result<void> Adjustments::set_memory(const ControlRequest& request, const Account& by,
                                     const std::string& by_text) {
  FAIRGV_TRY(tenant, needs_.tenancies.registry().set_memory(request.tenant, *request.memory, by.owner,
                                                            by.administrator,
                                                            needs_.tenancies.memory().capacities()));
  needs_.tenancies.refresh_memory();
  needs_.log.info(by, "tenant {}: memory {}, set by {}", tenant->name, to_text(*request.memory), by_text);
  return {};
}

Result<Adjustments::Warnings> Adjustments::set_policy(const ControlRequest& request, const Account& by,
                                                      const std::string& by_text) {
  if (sched::find_policy(request.policy) == nullptr) {
    return Error{"there is no policy '" + request.policy +
                 "': " + guess_and_list(request.policy, sched::policy_names())};
  }
  if (request.device && *request.device >= needs_.devices.size()) {
    return Error{"there is no device " + std::to_string(*request.device) +
                 ": see 'fairgv ps' while a program runs"};
  }
  needs_.dispatch.set_policy(request.policy, request.device);
  needs_.markets.follow_policies();
  const std::string where = request.device ? "device " + std::to_string(*request.device) : "all devices";
  needs_.log.info(by, "{}: policy {}, set by {}", where, request.policy, by_text);
  Warnings warnings = needs_.tenancies.admit_reserves();
  if (auto warning = unkept_warning(request.policy, needs_.tenancies.registry().promises())) {
    warnings.push_back(std::move(*warning));
  }
  for (const std::string& line : warnings) needs_.log.warn(by, "{}", line);
  return warnings;
}

}  // namespace fairgv::daemon
