#include "runtime/daemon/dispatch/host_watch.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace fairgv::daemon {
namespace {

/// The weight of the tenant's control group, as its attributes say on the first device that knows the tenant.
std::uint32_t host_weight_of(const std::vector<Dispatcher>& dispatchers, TenantId id) {
  for (const Dispatcher& dispatcher : dispatchers) {
    const auto& accounts = dispatcher.device().charges.accounts();
    if (accounts.knows(id)) return accounts.at(id).attributes.host_weight;
  }
  return sched::TenantAttributes{}.host_weight;
}

bool follows_host(const Dispatcher& dispatcher) {
  return dispatcher.device().policy->host_interest().tick.has_value();
}

}  // namespace

void HostWatch::add_session(SessionId id, TenantId tenant, ProcessorTimer program) {
  if (!program) return;
  programs_[id] = {.tenant = tenant, .timer = std::move(program)};
  ++tenants_[tenant].programs;
}

void HostWatch::remove_session(SessionId id) {
  const auto found = programs_.find(id);
  if (found == programs_.end()) return;
  const TenantId tenant = found->second.tenant;
  Tenant& its = tenants_.at(tenant);
  if (found->second.scheduled) --its.scheduled;
  if (--its.programs == 0) {
    tenants_.erase(tenant);
    credits_.forget(tenant);
  }
  programs_.erase(found);
}

HostWatch::Demand HostWatch::demand(const std::vector<Dispatcher>& dispatchers) {
  Demand demand;
  for (const Dispatcher& dispatcher : dispatchers) {
    const auto tick = dispatcher.device().policy->host_interest().tick;
    if (!tick) continue;
    demand.tick = std::min(demand.tick.value_or(*tick), *tick);
    demand.contended = demand.contended || !dispatcher.device().line.empty();
  }
  return demand;
}

std::optional<HostWatch::Time> HostWatch::deadline(const std::vector<Dispatcher>& dispatchers) const {
  const Demand now = demand(dispatchers);
  if (!now.tick || (!now.contended && next_ > goes_until_)) return std::nullopt;
  return next_;
}

void HostWatch::expire(std::vector<Dispatcher>& dispatchers, Time now) {
  const Demand wanted = demand(dispatchers);
  if (!wanted.tick || now < next_) return;
  if (wanted.contended) goes_until_ = now + kAfterwards;
  next_ = now + *wanted.tick;
  if (now > goes_until_) return;
  const std::vector<HostTold> told = look_at_some(dispatchers, now);
  if (told.empty()) return;
  for (Dispatcher& dispatcher : dispatchers) {
    if (follows_host(dispatcher)) dispatcher.expire(told, now);
  }
}

/// Returns whether anything is known of the program now.
bool HostWatch::look(Program& program, std::uint32_t weight, Time now) {
  ++looks_;
  const auto ran = program.timer();
  const Time before = std::exchange(program.looked, now);
  const auto ran_before = std::exchange(program.ran, ran);
  Tenant& tenant = tenants_.at(program.tenant);
  const bool was_scheduled = std::exchange(program.scheduled, false);
  if (was_scheduled) --tenant.scheduled;
  if (!ran || !ran_before || now - before > kStale) return was_scheduled;
  const Duration grown = std::max(*ran - *ran_before, Duration(0));
  credits_.ran(program.tenant, weight, grown);
  program.scheduled = grown > Duration(0) && grown * kScheduledPart >= now - before;
  if (program.scheduled) ++tenant.scheduled;
  return true;
}

std::vector<HostTold> HostWatch::look_at_some(const std::vector<Dispatcher>& dispatchers, Time now) {
  std::set<TenantId> seen;
  const std::size_t count = std::min(kMostLooks, programs_.size());
  auto next = programs_.upper_bound(last_);
  for (std::size_t i = 0; i < count; ++i, ++next) {
    if (next == programs_.end()) next = programs_.begin();
    last_ = next->first;
    Program& program = next->second;
    if (look(program, host_weight_of(dispatchers, program.tenant), now)) seen.insert(program.tenant);
  }
  credits_.pass(now);
  std::vector<HostTold> told;
  told.reserve(seen.size());
  for (const TenantId id : seen) {
    told.push_back({id, {tenants_.at(id).scheduled > 0, credits_.left(id)}});
  }
  return told;
}

}  // namespace fairgv::daemon
