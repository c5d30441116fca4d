// Plays the caller of the fair policy for tests of its promises.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "sched/policies/fair.hpp"
#include "tests/unit/sched/policy_player.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {

using namespace std::chrono_literals;

inline constexpr TenantAttributes kLatency{.service = ServiceClass::latency};
inline constexpr TenantAttributes kBatch{.service = ServiceClass::batch};

inline TenantAttributes guaranteed(Duration budget, Duration period, TenantAttributes others = {}) {
  others.min = {budget, period};
  return others;
}

inline TenantAttributes capped(std::uint32_t ppm, TenantAttributes others = {}) {
  others.max = {ppm};
  return others;
}

struct FairPromises : testing::Test {
  PolicyPlayer player{"fair", 6ms};
  Policy& policy = *player.policy;
  Time& now = player.now;

  void add(TenantId id, const TenantAttributes& attributes = {}) {
    policy.add(id, attributes, now);
    policy.wake(id, now);
  }
  Turn next() {
    const Decision decision = policy.next(now);
    EXPECT_TRUE(decision.turn);
    return decision.turn.value_or(Turn{});
  }
  /// Uses the device in the turn that has begun.
  void use(TenantId id, Duration used) { policy.charge(id, used, now += used); }
  void begin(TenantId id) { policy.begin(id, now); }
  void end(TenantId id) { policy.end(id, now); }
  /// As often as the next tenant has a turn of its own slice, until so much time has passed.
  void run_for(Duration time) {
    for (const Time until = now + time; now < until;) {
      const Decision decision = policy.next(now);
      if (decision.turn) {
        player.run(decision.turn->slice);
      } else {
        ASSERT_TRUE(decision.ask_again);
        ASSERT_GT(*decision.ask_again, now);
        now = std::min(*decision.ask_again, until);
      }
    }
  }
  double used_part(TenantId id, Duration before, Duration time) {
    return std::chrono::duration<double>(player.total[id] - before) / time;
  }
  /// A new policy object goes on from the budgets of this one, as the arbiter does it.
  void exchange(std::initializer_list<std::pair<TenantId, TenantAttributes>> tenants) {
    std::map<TenantId, TenantBudget> budgets;
    for (const auto& [id, attributes] : tenants) budgets[id] = policy.budget(id, now);
    later = make_policy("fair", 6ms);
    for (const auto& [id, attributes] : tenants) {
      later->add(id, attributes, now);
      later->restore(id, budgets[id], now);
    }
  }
  std::unique_ptr<Policy> later;
};

}  // namespace fairgv::sched
