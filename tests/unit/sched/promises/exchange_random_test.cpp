// Policy objects that are exchanged in the middle of a run: ceilings and guarantees hold as without that,
// debts are not forgotten, and nothing is refilled.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "sched/policies/fair.hpp"
#include "sched/promises/promises.hpp"
#include "tests/unit/sched/random_population.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr int kExchangedPopulations = harness::rounds(40);

class ExchangeRandom : public RandomPopulation {
 protected:
  /// New objects of the same policy, and if wanted, of another one for a while.
  void exchange_often(SimulationSettings& chosen, bool through_fifo) {
    Duration at{0};
    for (;;) {
      at += Duration(std::llround(1e6 * fraction(1, 1'500)));
      if (at >= chosen.length) return;
      if (through_fifo && between(0, 2) == 0) {
        chosen.exchanges.push_back({at, "fifo"});
        at += Duration(std::llround(1e6 * fraction(0, 400)));
      }
      chosen.exchanges.push_back({at, "fair"});
    }
  }
  std::size_t exchanges_until(const SimulationSettings& chosen, Time now) {
    std::size_t count = 0;
    while (count < chosen.exchanges.size() && kSimulationStart + chosen.exchanges[count].at <= now) ++count;
    return count;
  }
  /// Whether the policy knew ceilings all the time between two moments.
  bool was_fair(const SimulationSettings& chosen, Time from, Time to) {
    const std::size_t last = exchanges_until(chosen, to);
    for (std::size_t i = std::max<std::size_t>(exchanges_until(chosen, from), 1); i <= last; ++i) {
      if (chosen.exchanges[i - 1].policy != "fair") return false;
    }
    return true;
  }
  SimulationSettings with_promises() {
    SimulationSettings chosen = anybody();
    double left = 0.8;
    for (TenantSpec& spec : chosen.kinds) {
      if (between(0, 1) == 0) continue;
      const double share = left * fraction(0.05, 0.5);
      const Duration period(std::llround(1e6 * fraction(5, 200)));
      spec.attributes.min = {Duration(std::llround(ns(period) * share)), period};
      left -= share;
    }
    return chosen;
  }
};

// Theorem 4, for what is used while the policy knows ceilings.
TEST_F(ExchangeRandom, NobodyIsAboveItsCeilingInAnySecond) {
  for (int population = 0; population < harness::rounds(8); ++population) {
    SimulationSettings chosen = with_promises();
    if (between(0, 2) == 0) chosen.kinds.resize(1);
    for (TenantSpec& spec : chosen.kinds) {
      const double least = std::max(0.01, spec.attributes.min.share().fraction());
      spec.attributes.max = Share{static_cast<std::uint32_t>(1e6 * fraction(least, 1))};
    }
    exchange_often(chosen, true);
    struct Use {
      Time at;
      double used;
    };
    std::vector<std::deque<Use>> log(chosen.kinds.size());
    std::vector<double> seen(chosen.kinds.size());
    std::vector<double> sums(chosen.kinds.size());  // exact: whole nanoseconds
    Time looked = kSimulationStart;
    simulate(chosen, [&](std::size_t, const DeviceOutcome& device) {
      for (std::size_t i = 0; i < chosen.kinds.size() && !HasFatalFailure(); ++i) {
        const double used = ns(device.tenants[i].used);
        if (used == seen[i]) continue;
        if (was_fair(chosen, looked, device.now)) {
          log[i].push_back({device.now, used - seen[i]});
          sums[i] += used - seen[i];
        }
        seen[i] = used;
        while (!log[i].empty() && log[i].front().at <= device.now - 1s) {
          sums[i] -= log[i].front().used;
          log[i].pop_front();
        }
        if (log[i].empty()) continue;
        const double in_second = sums[i] - log[i].front().used;  // that may have begun before
        const TenantSpec& spec = chosen.kinds[i];
        const double spread = (1 + spec.jitter) / (1 - spec.jitter);
        const double overrun =
            std::max(ns(spec.kernel) * (1 + spec.jitter), ns(chosen.slices.most) * (spread - 1)) + 1'000;
        ASSERT_LE(in_second, ns(spec.attributes.max.of(1s)) + overrun) << "tenant " << i;
      }
      looked = device.now;  // a turn has ended
    });
    if (HasFatalFailure()) return;
  }
}

// Theorem 1: what one is ahead of another stays as it is.
TEST_F(ExchangeRandom, NobodyGainsByAnExchange) {
  for (int population = 0; population < kExchangedPopulations; ++population) {
    SimulationSettings chosen = anybody();
    exchange_often(chosen, false);
    simulate(chosen, [&](std::size_t, const DeviceOutcome& device) {
      const double lead = ns(chosen.slices.most) / FairPolicy::kLeadFraction;
      const double rounding = 2 + 2 * static_cast<double>(chosen.exchanges.size());
      for (std::size_t steady = 0; steady < chosen.kinds.size(); ++steady) {
        if (HasFatalFailure() || !device.tenants[steady].always_runnable) continue;
        const double got = ns(device.tenants[steady].used) / chosen.kinds[steady].attributes.weight;
        for (std::size_t i = 0; i < chosen.kinds.size(); ++i) {
          const double weight = chosen.kinds[i].attributes.weight;
          ASSERT_LE(ns(device.tenants[i].used) / weight - got,
                    (ns(device.tenants[i].longest_turn) + lead) / weight + rounding)
              << "tenant " << i << " beside tenant " << steady;
        }
      }
    });
    if (HasFatalFailure()) return;
  }
}

// A turn that is in progress goes on by weight, though it began for a guarantee: one turn for each exchange.
TEST_F(ExchangeRandom, NoGuaranteeIsRefilled) {
  for (int population = 0; population < kExchangedPopulations; ++population) {
    SimulationSettings chosen = with_promises();
    exchange_often(chosen, true);
    simulate(chosen, [&](std::size_t, const DeviceOutcome& device) {
      const auto turns = static_cast<double>(1 + exchanges_until(chosen, device.now));
      for (std::size_t i = 0; i < chosen.kinds.size() && !HasFatalFailure(); ++i) {
        const Reservation& min = chosen.kinds[i].attributes.min;
        if (min.empty()) continue;
        const double share = ns(min.budget) / ns(min.period);
        const double most =
            share * ns(device.now - kSimulationStart) + turns * ns(device.tenants[i].longest_turn);
        ASSERT_LE(ns(device.tenants[i].promised), most + 1'000) << "tenant " << i;
      }
    });
    if (HasFatalFailure()) return;
  }
}

// Theorem 5. An exchange forgives what a guarantee is behind by more than its period.
TEST_F(ExchangeRandom, EveryGuaranteeIsKept) {
  for (int population = 0; population < kExchangedPopulations; ++population) {
    SimulationSettings chosen = with_promises();
    exchange_often(chosen, false);
    const std::size_t count = chosen.kinds.size();
    std::vector<double> best(count, -1e18);
    simulate(chosen, [&](std::size_t, const DeviceOutcome& device) {
      double late = ns(device.idle_though_wanted);
      double longest = 0;
      for (std::size_t j = 0; j < count; ++j) {
        const Reservation& min = chosen.kinds[j].attributes.min;
        longest = std::max(longest, ns(device.tenants[j].longest_turn));
        if (min.empty()) continue;
        late += std::max(0.0, ns(device.tenants[j].longest_turn) - ns(min.budget));
        if (chosen.kinds[j].sleep > 0) late += ns(min.budget);  // owed after a short pause
      }
      late += longest;
      for (std::size_t i = 0; i < count && !HasFatalFailure(); ++i) {
        const Reservation& min = chosen.kinds[i].attributes.min;
        if (min.empty() || !device.tenants[i].always_runnable) continue;
        const double share = ns(min.budget) / ns(min.period);
        const double forgiven =
            std::max(0.0, late - ns(min.period)) * static_cast<double>(exchanges_until(chosen, device.now));
        const double beyond = ns(device.tenants[i].used) - share * ns(device.now - kSimulationStart);
        best[i] = std::max(best[i], beyond);
        ASSERT_GE(beyond, best[i] - ns(min.budget) - share * (late + forgiven) -
                              ns(device.tenants[i].longest_turn) - 1'000)
            << "tenant " << i;
      }
    });
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace fairgv::sched
