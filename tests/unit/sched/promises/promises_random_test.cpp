// The theorems on promises of docs/SCHEDULING.md (4 to 7), tested on random populations of simulated tenants
// after every turn. Every bound is a theorem, so a failure is a bug and not bad luck.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "sched/policies/fair.hpp"
#include "sched/promises/ceiling.hpp"
#include "sched/promises/promises.hpp"
#include "tests/unit/sched/random_population.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr int kPromisedPopulations = harness::rounds(40);

/// The longest that one run of commands can take beyond the time for which it was meant.
double overrun(const TenantSpec& spec, Duration slice) {
  const double longest = ns(spec.kernel) * (1 + spec.jitter);
  const double spread = (1 + spec.jitter) / (1 - spec.jitter);
  return std::max(longest, ns(slice) * (spread - 1)) + 1'000;
}

double longest_turn(const DeviceOutcome& device) {
  double longest = 0;
  for (const TenantOutcome& tenant : device.tenants) longest = std::max(longest, ns(tenant.longest_turn));
  return longest;
}

class PromisesRandom : public RandomPopulation {
 protected:
  Reservation guarantee(double share) {
    const Duration period(std::llround(1e6 * fraction(5, 200)));
    return {Duration(std::llround(ns(period) * share)), period};
  }

  /// Guarantees of 90 % of the device in all, at most.
  SimulationSettings with_guarantees() {
    SimulationSettings chosen = anybody();
    double left = 0.9 - Promises::kBatchFloor.share().fraction();
    for (TenantSpec& spec : chosen.kinds) {
      if (between(0, 1) == 0) continue;
      const double share = left * fraction(0.05, 0.6);
      spec.attributes.min = guarantee(share);
      left -= share;
    }
    if (chosen.kinds[0].attributes.min.empty()) chosen.kinds[0].attributes.min = guarantee(left * 0.9);
    return chosen;
  }
  void add_classes(SimulationSettings& chosen) {
    for (std::size_t i = 1; i < chosen.kinds.size(); ++i) {
      const std::uint32_t any = between(0, 3);
      if (any == 0) chosen.kinds[i].attributes.service = ServiceClass::latency;
      if (any == 1) chosen.kinds[i].attributes.service = ServiceClass::batch;
    }
  }
};

// Theorem 4.
TEST_F(PromisesRandom, NobodyIsAboveItsCeilingInAnySecond) {
  for (int population = 0; population < kPromisedPopulations; ++population) {
    SimulationSettings chosen = between(0, 1) == 0 ? anybody() : with_guarantees();
    add_classes(chosen);
    if (between(0, 3) == 0) chosen.kinds.resize(1);  // alone
    for (TenantSpec& spec : chosen.kinds) {
      const double least = std::max(0.01, spec.attributes.min.share().fraction());
      if (between(0, 2) > 0) {
        spec.attributes.max = Share{static_cast<std::uint32_t>(1e6 * fraction(least, 1))};
      }
    }
    struct Use {
      Time at;
      double used;
    };
    std::vector<std::deque<Use>> log(chosen.kinds.size());
    std::vector<double> seen(chosen.kinds.size());
    simulate(chosen, [&](std::size_t, const DeviceOutcome& device) {
      for (std::size_t i = 0; i < chosen.kinds.size() && !HasFatalFailure(); ++i) {
        const double used = ns(device.tenants[i].used);
        if (used == seen[i]) continue;
        log[i].push_back({device.now, used - seen[i]});
        seen[i] = used;
        while (log[i].front().at <= device.now - 1s) log[i].pop_front();
        double in_second = 0;
        for (const Use& use : log[i]) in_second += use.used;
        // The oldest turn may have begun before the second.
        in_second -= log[i].front().used;
        const TenantSpec& spec = chosen.kinds[i];
        ASSERT_LE(in_second, ns(spec.attributes.max.of(1s)) + overrun(spec, chosen.slices.most))
            << "tenant " << i;
      }
    });
    if (HasFatalFailure()) return;
  }
}

// The ceiling is reached, too: a tenant that always has work gets it, but for a turn, in every second.
TEST_F(PromisesRandom, ALoneTenantReachesItsCeiling) {
  for (int population = 0; population < kPromisedPopulations; ++population) {
    SimulationSettings chosen = settings();
    chosen.kinds.push_back(saturating());
    TenantSpec& spec = chosen.kinds[0];
    spec.kernel = std::min<Duration>(spec.kernel, 2ms);
    spec.attributes.max = Share{static_cast<std::uint32_t>(1e6 * fraction(0.05, 0.95))};
    const DeviceOutcome device = simulate(chosen).devices[0];
    const double due = ns(spec.attributes.max.of(chosen.length));
    EXPECT_GE(ns(device.tenants[0].used), 0.985 * due) << "max " << spec.attributes.max.ppm;
  }
}

// Theorem 5.
TEST_F(PromisesRandom, EveryGuaranteeIsKept) {
  for (int population = 0; population < kPromisedPopulations; ++population) {
    SimulationSettings chosen = with_guarantees();
    add_classes(chosen);
    const std::size_t count = chosen.kinds.size();
    std::vector<double> best(count, -1e18);  // of what it had got beyond its guarantee
    std::optional<Time> began;
    simulate(chosen, [&](std::size_t, const DeviceOutcome& device) {
      if (!began) began = device.now;
      double late = longest_turn(device) + ns(device.idle_though_wanted);
      const double lead = ns(chosen.slices.most) * (1 + 1.0 / FairPolicy::kLeadFraction);
      double claims = lead;  // weighted: by how much tags can be behind virtual time, or it can jump
      for (std::size_t j = 0; j < count; ++j) {
        const double ahead = ns(device.tenants[j].longest_turn) + lead;
        claims = std::max(claims, lead + ahead / chosen.kinds[j].attributes.weight);
      }
      for (std::size_t j = 0; j < count; ++j) {
        const TenantAttributes& its = chosen.kinds[j].attributes;
        const double turn = ns(device.tenants[j].longest_turn);
        if (!its.min.empty()) late += std::max(0.0, turn - ns(its.min.budget));
        if (chosen.kinds[j].sleep > 0) late += ns(its.min.budget);  // owed after a short pause
        if (its.service == ServiceClass::latency) late += turn + ns(chosen.slices.most) + its.weight * claims;
        if (its.service == ServiceClass::batch) late += turn;  // the floor's
      }
      for (std::size_t i = 0; i < count && !HasFatalFailure(); ++i) {
        const Reservation& min = chosen.kinds[i].attributes.min;
        if (min.empty() || !device.tenants[i].always_runnable) continue;
        const double share = ns(min.budget) / ns(min.period);
        const double beyond = ns(device.tenants[i].used) - share * ns(device.now - *began);
        best[i] = std::max(best[i], beyond);
        ASSERT_GE(beyond,
                  best[i] - ns(min.budget) - share * late - ns(device.tenants[i].longest_turn) - 1'000)
            << "tenant " << i << " at " << ns(device.now - *began) / 1e6 << " ms";
      }
    });
    if (HasFatalFailure()) return;
  }
}

// Theorem 6.
TEST_F(PromisesRandom, ALatencyTenantWaitsForWhatIsInFlightOnly) {
  for (int population = 0; population < kPromisedPopulations; ++population) {
    SimulationSettings chosen = between(0, 1) == 0 ? all_saturating() : with_guarantees();
    add_classes(chosen);
    for (TenantSpec& spec : chosen.kinds) {
      if (spec.attributes.service == ServiceClass::latency) spec.attributes.service = ServiceClass::normal;
    }
    TenantSpec brief;
    brief.attributes.service = ServiceClass::latency;
    // All its commands together are shorter than a slice, so that its tag is never further ahead than that.
    brief.kernel = Duration(std::llround(ns(chosen.slices.least) * ns(5ms) / ns(chosen.length)));
    brief.burst = 1;
    brief.sleep = 1 - ns(brief.kernel) / ns(5ms) * fraction(0.1, 1);  // for 5 to 50 ms
    double in_flight = 0;
    for (const TenantSpec& spec : chosen.kinds) {
      const double longest = ns(spec.kernel) * (1 + spec.jitter);
      // Predicted from the shortest, and then the longest come.
      const double spread = (1 + spec.jitter) / (1 - spec.jitter);
      in_flight = std::max({in_flight, 2 * longest, ns(FairPolicy::kLeastInFlight) * spread});
    }
    chosen.kinds.push_back(brief);
    const DeviceOutcome device = simulate(chosen).devices[0];
    const TenantOutcome& waking = device.tenants.back();
    ASSERT_GT(waking.waits.size(), 10U);
    // Before it woke first, nobody kept less in flight because of it.
    EXPECT_LE(ns(*std::max_element(waking.waits.begin() + 5, waking.waits.end())), in_flight + 1'000);
  }
}

// Theorem 7: the time that is not promised is shared by the weights, whatever else is promised.
TEST_F(PromisesRandom, TheTimeThatIsNotPromisedIsSharedByTheWeights) {
  for (int population = 0; population < kPromisedPopulations; ++population) {
    SimulationSettings chosen = all_saturating();
    double left = 0.8;
    for (TenantSpec& spec : chosen.kinds) {
      if (between(0, 1) == 0) continue;
      const double share = left * fraction(0.05, 0.5);
      spec.attributes.min = guarantee(share);
      left -= share;
    }
    const std::size_t count = chosen.kinds.size();
    simulate(chosen, [&](std::size_t, const DeviceOutcome& device) {
      double weights = 0;
      double shared = 0;
      double turns = 0;
      for (std::size_t i = 0; i < count; ++i) {
        weights += chosen.kinds[i].attributes.weight;
        shared += ns(device.tenants[i].used - device.tenants[i].promised);
        turns += ns(device.tenants[i].longest_turn);
      }
      for (std::size_t i = 0; i < count && !HasFatalFailure(); ++i) {
        const TenantOutcome& tenant = device.tenants[i];
        const double part = chosen.kinds[i].attributes.weight / weights;
        const double lag = part * shared - ns(tenant.used - tenant.promised);
        ASSERT_LE(lag, part * (turns - ns(tenant.longest_turn)) + weights) << "tenant " << i;
        ASSERT_LE(-lag, ns(tenant.longest_turn) * (1 - part) + weights) << "tenant " << i;
      }
    });
    if (HasFatalFailure()) return;
  }
}

// Theorem 1 with the lead of the latency class.
TEST_F(PromisesRandom, ALatencyTenantGainsNothingBySleeping) {
  for (int population = 0; population < kPromisedPopulations; ++population) {
    SimulationSettings chosen = anybody();
    for (std::size_t i = 1; i < chosen.kinds.size(); ++i) {
      if (between(0, 1) == 0) chosen.kinds[i].attributes.service = ServiceClass::latency;
    }
    simulate(chosen, [&](std::size_t, const DeviceOutcome& device) {
      for (std::size_t steady = 0; steady < chosen.kinds.size(); ++steady) {
        if (HasFatalFailure() || !device.tenants[steady].always_runnable) continue;
        const double got = ns(device.tenants[steady].used) / chosen.kinds[steady].attributes.weight;
        for (std::size_t i = 0; i < chosen.kinds.size(); ++i) {
          const double weight = chosen.kinds[i].attributes.weight;
          ASSERT_LE(ns(device.tenants[i].used) / weight - got,
                    (ns(device.tenants[i].longest_turn) + ns(chosen.slices.most)) / weight + 10)
              << "tenant " << i << " beside tenant " << steady;
        }
      }
    });
    if (HasFatalFailure()) return;
  }
}

TEST_F(PromisesRandom, TheBatchClassHasItsFloorAndNoMoreBesideTenantsThatAlwaysWantTheDevice) {
  for (int population = 0; population < harness::rounds(10); ++population) {
    SimulationSettings chosen = all_saturating();
    chosen.length = 60s;
    for (TenantSpec& spec : chosen.kinds) {
      spec.kernel = std::min<Duration>(spec.kernel, 1ms);
      spec.attributes.service = between(0, 1) == 0 ? ServiceClass::normal : ServiceClass::batch;
    }
    chosen.kinds[0].attributes.service = ServiceClass::normal;
    chosen.kinds[1].attributes.service = ServiceClass::batch;
    const SimulationResult result = simulate(chosen);
    double batch = 0;
    for (std::size_t i = 0; i < result.tenants.size(); ++i) {
      if (result.tenants[i].attributes.service != ServiceClass::batch) continue;
      batch += ns(result.devices[0].tenants[i].used);
    }
    const double floor = ns(Promises::kBatchFloor.budget) / ns(Promises::kBatchFloor.period);
    EXPECT_NEAR(batch / ns(result.devices[0].busy), floor, 0.005);
  }
}

}  // namespace
}  // namespace fairgv::sched
