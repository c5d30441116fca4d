// A simulated device that goes on with another policy object.
#include <utility>

#include "sched/simulator/device.hpp"

namespace fairgv::sched {

void SimulatedDevice::set_policy(std::unique_ptr<Policy> policy, Time now) {
  account(now);
  if (kept_for_) stop_keeping(now);
  budgets_.resize(attributes_.size());
  for (std::size_t tenant = 0; tenant < budgets_.size(); ++tenant) {
    budgets_[tenant].update(policy_->budget(id_of(tenant), now));
  }
  policy_ = std::move(policy);
  policy_->set_slice(model_.slices.of(wanting_));
  for (std::size_t tenant = 0; tenant < budgets_.size(); ++tenant) {
    policy_->add(id_of(tenant), attributes_[tenant], now);
    policy_->restore(id_of(tenant), budgets_[tenant], now);
  }
  for (std::size_t tenant = 0; tenant < budgets_.size(); ++tenant) {
    if (!waiting_[tenant].empty()) policy_->wake(id_of(tenant), now);
  }
  if (!turn_) return grant_next(now);
  policy_->wake(turn_->turn.tenant, now);
  policy_->begin(turn_->turn.tenant, now);
  review(now);
}

}  // namespace fairgv::sched
