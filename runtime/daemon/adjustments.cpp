#include "runtime/daemon/adjustments.hpp"

#include <string>

#include "runtime/base/near_word.hpp"
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

Result<void> Adjustments::set(const ControlRequest& request, const Account& by, const std::string& by_text) {
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
  }
  return request.memory ? set_memory(request, by, by_text) : Result<void>();
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

Result<void> Adjustments::set_policy(const ControlRequest& request, const Account& by,
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
  return {};
}

}  // namespace fairgv::daemon
