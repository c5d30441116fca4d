#include "runtime/daemon/turns/tenant_accounts.hpp"

namespace fairgv::daemon {

void TenantAccount::restore(const TenantBooks& books) {
  device_time = books.device_time;
  outside = books.outside;
  ended = books.ended;
  waits.restore(books.waits);
  budget = books.budget;
}

void TenantAccount::charge(Duration used, sched::Time from, sched::Time now) {
  device_time += used;
  window.add(from, now, used);
}

bool TenantAccounts::add(TenantId id, const sched::TenantAttributes& attributes) {
  const auto [added, is_new] = accounts_.try_emplace(id);
  if (is_new) added->second.attributes = attributes;
  if (is_new) added->second.wanted_max = attributes.max;
  return is_new;
}

TenantAccount* TenantAccounts::find(TenantId id) {
  const auto found = accounts_.find(id);
  return found == accounts_.end() ? nullptr : &found->second;
}

void TenantAccounts::begin_activity() {
  for (auto& [id, account] : accounts_) account.in_turns = sched::Duration(0);
}

}  // namespace fairgv::daemon
