// Plays the caller of a policy: keeps the clock, and gives and ends turns as policy.hpp asks for it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "sched/policies/registry.hpp"

namespace fairgv::sched {

struct PolicyPlayer {
  explicit PolicyPlayer(std::string_view name, Duration slice) : policy(make_policy(name, slice)) {}

  void add_runnable(TenantId id, std::uint32_t weight = 1) {
    policy->add(id, {weight}, now);
    policy->wake(id, now);
  }
  std::optional<TenantId> next() const {
    const Decision decision = policy->next(now);
    if (!decision.turn) return std::nullopt;
    return decision.turn->tenant;
  }
  /// The next tenant uses the device for this long; returns that tenant.
  TenantId run(Duration used) {
    const auto tenant = next();
    EXPECT_TRUE(tenant);
    if (!tenant) return {};
    policy->begin(*tenant, now);
    now += used;
    policy->charge(*tenant, used, now);
    policy->end(*tenant, now);
    total[*tenant] += used;
    return *tenant;
  }
  /// Runs the next tenant in the same way; then the tenant has nothing to issue.
  std::optional<Time> run_and_pause(Duration used) { return policy->pause(run(used), now); }
  double share(TenantId id) const {
    Duration all{0};
    for (const auto& [tenant, used] : total) all += used;
    return static_cast<double>(total.at(id).count()) / static_cast<double>(all.count());
  }

  std::unique_ptr<Policy> policy;
  Time now{std::chrono::seconds(1'000)};
  std::map<TenantId, Duration> total;
};

}  // namespace fairgv::sched
