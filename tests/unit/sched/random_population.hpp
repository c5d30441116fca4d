// Random populations of simulated tenants, for tests of theorems. FAIRGV_TEST_SEED=<the printed number>
// repeats one.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sched/simulator/simulation.hpp"
#include "tests/harness/sanitized.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::sched {

inline double ns(Duration time) {
  return static_cast<double>(time.count());
}

class RandomPopulation : public testing::Test {
 protected:
  RandomPopulation() : random_(fairgv::harness::printed_seed()) {}

  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }
  double fraction(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

  /// Kernels from 10 us to 30 ms: from many in a slice to several slices for one kernel.
  TenantSpec saturating() {
    TenantSpec spec;
    spec.attributes.weight = between(1, 10);
    spec.kernel = Duration(std::llround(1e4 * std::pow(3'000, fraction(0, 1))));
    spec.jitter = fraction(0, 0.5);
    return spec;
  }
  TenantSpec any_tenant(std::uint32_t most_sessions) {
    TenantSpec spec = saturating();
    if (between(0, 2) > 0) spec.sleep = fraction(0.05, 0.95);
    spec.burst = between(1, 50);
    spec.sessions = between(1, most_sessions);
    return spec;
  }
  SimulationSettings settings(const char* policy = "fair") {
    using namespace std::chrono_literals;
    SimulationSettings chosen;
    chosen.policy = policy;
    chosen.length = 10s;
    chosen.seed = random_();
    const Duration most(std::llround(1e6 * fraction(1, 30)));
    chosen.slices = SliceRule::constant(most);
    if (between(0, 1) == 1) {
      const Duration least(std::llround(ns(most) * fraction(0.1, 1)));
      chosen.slices = {least, most, Duration(std::llround(ns(most) * fraction(1, 10)))};
    }
    return chosen;
  }
  SimulationSettings all_saturating() {
    SimulationSettings chosen = settings();
    for (std::uint32_t i = between(2, 12); i > 0; --i) chosen.kinds.push_back(saturating());
    return chosen;
  }
  /// The first tenant always has something to run.
  SimulationSettings anybody(std::uint32_t most_sessions = 4) {
    SimulationSettings chosen = settings();
    chosen.kinds.push_back(saturating());
    for (std::uint32_t i = between(1, 12); i > 0; --i) chosen.kinds.push_back(any_tenant(most_sessions));
    return chosen;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace fairgv::sched
