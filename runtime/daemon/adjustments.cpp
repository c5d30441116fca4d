#include "runtime/daemon/adjustments.hpp"

#include <string>

#include "runtime/base/near_word.hpp"
#include "sched/policies/registry.hpp"

namespace fairgv::daemon {

using control::ControlRequest;

Result<void> Adjustments::set_weight(const ControlRequest& request, const Account& by,
                                     const std::string& by_text) {
  FAIRGV_TRY(tenant,
             tenancies_.registry().set_weight(request.tenant, request.weight, by.owner, by.administrator));
  tenancies_.apply_weight(tenant.value());
  log_.info(by, "tenant {}: weight {}, set by {}", tenant->name, tenant->weight, by_text);
  return {};
}

Result<void> Adjustments::set_memory(const ControlRequest& request, const Account& by,
                                     const std::string& by_text) {
  FAIRGV_TRY(tenant, tenancies_.registry().set_memory(request.tenant, *request.memory, by.owner,
                                                      by.administrator, tenancies_.memory().capacities()));
  tenancies_.refresh_memory();
  log_.info(by, "tenant {}: memory {}, set by {}", tenant->name, to_text(*request.memory), by_text);
  return {};
}

Result<void> Adjustments::set_policy(const ControlRequest& request, const Account& by,
                                     const std::string& by_text) {
  if (sched::find_policy(request.policy) == nullptr) {
    return Error{"there is no policy '" + request.policy +
                 "': " + guess_and_list(request.policy, sched::policy_names())};
  }
  if (request.device && *request.device >= devices_.size()) {
    return Error{"there is no device " + std::to_string(*request.device) +
                 ": see 'fairgv ps' while a program runs"};
  }
  dispatch_.set_policy(request.policy, request.device);
  const std::string where = request.device ? "device " + std::to_string(*request.device) : "all devices";
  log_.info(by, "{}: policy {}, set by {}", where, request.policy, by_text);
  return {};
}

}  // namespace fairgv::daemon
