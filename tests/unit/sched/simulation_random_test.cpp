// The theorems of docs/SCHEDULING.md, tested on random populations of simulated tenants. Every bound here is
// a theorem, so a failure is a bug and not bad luck; FAIRGV_TEST_SEED=<the printed number> repeats it.
#include <gtest/gtest.h>

#include <algorithm>

#include "sched/policies/fair.hpp"
#include "sched/policies/registry.hpp"
#include "tests/unit/sched/random_population.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr int kPopulations = harness::rounds(40);

class SimulationRandom : public RandomPopulation {};

double total_weight(const std::vector<TenantSpec>& tenants) {
  double sum = 0;
  for (const TenantSpec& tenant : tenants) sum += tenant.attributes.weight;
  return sum;
}

/// Tags are rounded down by less than 1/16 weighted ns each, and doubles lose a little.
double rounding(double weights) {
  return weights / 16 + 1;
}

/// The longest lead with which a tenant wakes.
double lead(const SimulationSettings& chosen) {
  return ns(chosen.slices.most) / FairPolicy::kLeadFraction;
}

// Theorem 2 of docs/SCHEDULING.md.
void expect_bounded_lag(const std::vector<TenantSpec>& tenants, const DeviceOutcome& device) {
  const double weights = total_weight(tenants);
  double used = 0;
  double turns = 0;  // the sum of the tenants' longest turns
  for (const TenantOutcome& tenant : device.tenants) {
    used += ns(tenant.used);
    turns += ns(tenant.longest_turn);
  }
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    const TenantOutcome& tenant = device.tenants[i];
    const double part = tenants[i].attributes.weight / weights;
    const double lag = part * used - ns(tenant.used);
    ASSERT_LE(lag, part * (turns - ns(tenant.longest_turn)) + rounding(weights)) << "tenant " << i;
    ASSERT_LE(-lag, ns(tenant.longest_turn) * (1 - part) + rounding(weights)) << "tenant " << i;
  }
}

TEST_F(SimulationRandom, TheLagOfEveryTenantIsBoundedAfterEveryTurn) {
  for (int population = 0; population < kPopulations; ++population) {
    const SimulationSettings chosen = all_saturating();
    simulate(chosen, [&](std::size_t, const DeviceOutcome& device) {
      if (!HasFatalFailure()) expect_bounded_lag(chosen.kinds, device);
    });
    if (HasFatalFailure()) return;
  }
}

TEST_F(SimulationRandom, AMeasuredTurnIsNoLongerThanSamplingAllows) {
  for (int population = 0; population < kPopulations; ++population) {
    const SimulationSettings chosen = all_saturating();
    const DeviceOutcome device = simulate(chosen).devices[0];
    // The first tenant had the device alone before the others came.
    for (std::size_t i = 1; i < chosen.kinds.size(); ++i) {
      const TenantSpec& spec = chosen.kinds[i];
      const double longest_kernel = ns(spec.kernel) * (1 + spec.jitter);
      const double spread = (1 + spec.jitter) / (1 - spec.jitter);
      const double bound = std::max(ns(chosen.slices.most) + longest_kernel, ns(chosen.slices.most) * spread);
      EXPECT_LE(ns(device.tenants[i].longest_turn), bound * 1.001) << "tenant " << i;  // kernels are whole ns
    }
  }
}

TEST_F(SimulationRandom, SharesConvergeToTheWeights) {
  for (int population = 0; population < harness::rounds(8); ++population) {
    SimulationSettings chosen = all_saturating();
    chosen.length = 300s;
    const SimulationResult result = simulate(chosen);
    const DeviceOutcome& device = result.devices[0];
    for (std::size_t i = 0; i < result.tenants.size(); ++i) {
      EXPECT_NEAR(ns(device.tenants[i].used) / ns(device.busy), result.entitled[i], 0.005) << "tenant " << i;
    }
  }
}

// Theorem 1: whatever a tenant does (sleeping, splitting into sessions, sending long kernels), in units of
// its weight it is never ahead of a tenant that always wants the device by more than its own longest turn and
// lead.
TEST_F(SimulationRandom, NobodyGainsBySleepingSplittingOrLongKernels) {
  for (int population = 0; population < kPopulations; ++population) {
    const SimulationSettings chosen = anybody();
    simulate(chosen, [&](std::size_t, const DeviceOutcome& device) {
      for (std::size_t steady = 0; steady < chosen.kinds.size(); ++steady) {
        if (HasFatalFailure() || !device.tenants[steady].always_runnable) continue;
        const double got = ns(device.tenants[steady].used) / chosen.kinds[steady].attributes.weight;
        for (std::size_t i = 0; i < chosen.kinds.size(); ++i) {
          const double weight = chosen.kinds[i].attributes.weight;
          ASSERT_LE(ns(device.tenants[i].used) / weight - got,
                    (ns(device.tenants[i].longest_turn) + lead(chosen)) / weight + rounding(1))
              << "tenant " << i << " beside tenant " << steady;
        }
      }
    });
    if (HasFatalFailure()) return;
  }
}

TEST_F(SimulationRandom, SplittingIntoSessionsDoesNotChangeTheShare) {
  for (int population = 0; population < harness::rounds(10); ++population) {
    SimulationSettings chosen = all_saturating();
    chosen.length = 100s;
    const double whole = ns(simulate(chosen).devices[0].tenants[0].used);
    chosen.kinds[0].sessions = 8;
    const double split = ns(simulate(chosen).devices[0].tenants[0].used);
    EXPECT_NEAR(split / whole, 1, 0.03);
  }
}

// Theorem 3.
TEST_F(SimulationRandom, NobodyWaitsLongerThanTheOthersNeedToCatchUp) {
  for (int population = 0; population < kPopulations; ++population) {
    const SimulationSettings chosen = anybody(1);
    const DeviceOutcome device = simulate(chosen).devices[0];
    for (std::size_t i = 0; i < chosen.kinds.size(); ++i) {
      const TenantOutcome& tenant = device.tenants[i];
      double longest = ns(device.idle_though_wanted);
      const double ahead = (ns(tenant.longest_turn) + lead(chosen)) / chosen.kinds[i].attributes.weight +
                           ns(chosen.slices.most) + lead(chosen);
      for (std::size_t j = 0; j < chosen.kinds.size(); ++j) {
        if (j == i) continue;
        longest +=
            chosen.kinds[j].attributes.weight * ahead + lead(chosen) + ns(device.tenants[j].longest_turn);
      }
      ASSERT_FALSE(tenant.waits.empty());
      EXPECT_LE(ns(*std::max_element(tenant.waits.begin(), tenant.waits.end())), longest + rounding(100))
          << "tenant " << i;
    }
  }
}

TEST_F(SimulationRandom, ATenantThatNeedsLittleWaitsOnlyForTheTurnInProgress) {
  for (int population = 0; population < kPopulations; ++population) {
    SimulationSettings chosen = all_saturating();
    TenantSpec brief;
    brief.kernel = chosen.slices.least / 300;
    brief.burst = 1;
    brief.sleep = 1 - ns(brief.kernel) / ns(5ms) * fraction(0.1, 1);  // for 5 to 50 ms
    chosen.kinds.push_back(brief);
    const DeviceOutcome device = simulate(chosen).devices[0];
    const TenantOutcome& waking = device.tenants.back();
    Duration longest{0};
    for (const TenantOutcome& tenant : device.tenants) longest = std::max(longest, tenant.longest_turn);
    ASSERT_GT(waking.waits.size(), 10U);
    // At the beginning all tenants have just woken, and go in the order in which they woke.
    EXPECT_LE(*std::max_element(waking.waits.begin() + 5, waking.waits.end()), longest);
  }
}

TEST_F(SimulationRandom, WorkConservingPoliciesLeaveNobodyWaitingBesideAnIdleDevice) {
  for (const PolicyInfo& policy : all_policies()) {
    if (!policy.work_conserving) continue;
    for (int population = 0; population < kPopulations; ++population) {
      SimulationSettings chosen = anybody();
      chosen.policy = policy.name;
      chosen.length = 3s;
      const DeviceOutcome device = simulate(chosen).devices[0];
      std::size_t turns = 0;
      for (const TenantOutcome& tenant : device.tenants) turns += tenant.waits.size();
      Duration kept{0};  // after a turn, at most
      if (policy.name == kDefaultPolicy) {
        for (const TenantOutcome& tenant : device.tenants) kept = std::max(kept, tenant.longest_turn);
        kept = std::max(FairPolicy::kLongestAnticipation, kept / FairPolicy::kStakeFraction);
      }
      EXPECT_LE(device.idle_though_wanted, kept * static_cast<std::int64_t>(turns)) << policy.name;
    }
  }
}

}  // namespace
}  // namespace fairgv::sched
