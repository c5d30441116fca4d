// The simulator itself, and its results for the policies with tenants chosen by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "sched/policies/fair.hpp"
#include "sched/simulator/simulation.hpp"
#include "sched/turn_plan.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

double seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

/// The tenant's share of the time that the device was in use.
double share(const DeviceOutcome& device, std::size_t tenant) {
  return seconds(device.tenants[tenant].used) / seconds(device.busy);
}

TEST(Simulation, IsRepeatedExactlyByItsSeed) {
  SimulationSettings settings;
  settings.kinds = {{.sleep = 0.5, .count = 3}, {.attributes = {.weight = 2}, .kernel = 7ms}};
  settings.devices = 2;
  settings.length = 2s;
  const auto used = [&](std::uint64_t seed) {
    settings.seed = seed;
    std::vector<Duration> times;
    for (const DeviceOutcome& device : simulate(settings).devices) {
      for (const TenantOutcome& tenant : device.tenants) times.push_back(tenant.used);
    }
    return times;
  };
  EXPECT_EQ(used(7), used(7));
  EXPECT_NE(used(7), used(8));
}

TEST(Simulation, ALoneTenantGetsAllThatItCanUse) {
  SimulationSettings settings;
  settings.kinds = {{.sleep = 0.75, .burst = 4}};
  for (const char* policy : {"fair", "round-robin", "credit-poll", "strict-cosched"}) {
    settings.policy = policy;
    EXPECT_NEAR(seconds(simulate(settings).devices[0].busy), 2.5, 0.05) << policy;
  }
}

TEST(Simulation, DevicesAreSharedEachByItself) {
  SimulationSettings settings;
  settings.kinds = {{.attributes = {.weight = 1}}, {.attributes = {.weight = 3}}};
  settings.devices = 3;
  for (const DeviceOutcome& device : simulate(settings).devices) {
    EXPECT_NEAR(share(device, 1), 0.75, 0.01);
  }
}

TEST(Simulation, ThousandsOfTenantsAllMakeProgress) {
  SimulationSettings settings;
  settings.kinds = {{.count = 2'000}, {.attributes = {.weight = 5}, .sleep = 0.9, .count = 2'000}};
  settings.length = 120s;
  const DeviceOutcome device = simulate(settings).devices[0];
  for (const TenantOutcome& tenant : device.tenants) ASSERT_GT(tenant.used, 0ns);
}

TEST(Simulation, ATenantThatNeedsMomentsWaitsForLessThanASlice) {
  SimulationSettings settings;
  settings.kinds = {{.kernel = 400us, .count = 5}, {.kernel = 50us, .sleep = 0.99, .burst = 1}};
  settings.length = 30s;
  const TenantOutcome sleeper = simulate(settings).devices[0].tenants.back();
  ASSERT_GT(sleeper.waits.size(), 1'000U);
  // Except for the first wait, when all tenants come at once.
  const Duration longest = *std::max_element(sleeper.waits.begin() + 1, sleeper.waits.end());
  const Duration slice = settings.slices.of(5);
  EXPECT_LE(longest, slice / FairPolicy::kUndisturbedFraction + slice / TurnPlan::kInFlightFraction + 400us);
}

TEST(Simulation, RefusesAnUnknownPolicy) {
  SimulationSettings settings;
  settings.policy = "lottery";
  EXPECT_THROW(simulate(settings), std::invalid_argument);
}

TEST(EntitledShares, FollowTheWeightsOfTenantsThatCanUseThem) {
  const auto shares = entitled_shares(
      {{.attributes = {.weight = 1}}, {.attributes = {.weight = 2}}, {.attributes = {.weight = 3}}});
  EXPECT_DOUBLE_EQ(shares[0], 1.0 / 6);
  EXPECT_DOUBLE_EQ(shares[2], 3.0 / 6);
}

TEST(EntitledShares, TheUnusedPartOfASleepersShareGoesToTheOthersByWeight) {
  const auto shares = entitled_shares({{.attributes = {.weight = 6}, .sleep = 0.9},
                                       {.attributes = {.weight = 1}},
                                       {.attributes = {.weight = 2}}});
  EXPECT_DOUBLE_EQ(shares[0], 0.1);
  EXPECT_DOUBLE_EQ(shares[1], 0.3);
  EXPECT_DOUBLE_EQ(shares[2], 0.6);
}

TEST(EntitledShares, HeedGuaranteesAndCeilings) {
  const auto shares = entitled_shares({{.attributes = {.weight = 6, .max = Share{250'000}}},
                                       {.attributes = {.weight = 1, .min = {30ms, 100ms}}},
                                       {.attributes = {.weight = 2}},
                                       {.attributes = {.weight = 9}, .sleep = 0.95}});
  EXPECT_DOUBLE_EQ(shares[0], 0.25);
  EXPECT_DOUBLE_EQ(shares[3], 0.05);
  EXPECT_DOUBLE_EQ(shares[1], 0.3 + 0.4 / 3);
  EXPECT_DOUBLE_EQ(shares[2], 0.8 / 3);
}

// FairGV, figure 11: run time of a program with kernels of 207 us beside one with kernels of another length,
// relative to having the device alone. 2.0 is fair.
struct Figure11 : testing::TestWithParam<const char*> {
  double normalized_run_time(Duration background_kernel) {
    SimulationSettings settings;
    settings.policy = GetParam();
    settings.kinds = {{.kernel = 207us}, {.kernel = background_kernel}};
    settings.length = 20s;
    return 1 / share(simulate(settings).devices[0], 0);
  }
};

using Figure11Fair = Figure11;
TEST_P(Figure11Fair, TheLengthOfTheOthersKernelsDoesNotMatter) {
  for (const Duration kernel : {21us, 207us, 1'605us}) EXPECT_NEAR(normalized_run_time(kernel), 2.0, 0.1);
}
INSTANTIATE_TEST_SUITE_P(, Figure11Fair, testing::Values("fair"));

using Figure11Slope = Figure11;
TEST_P(Figure11Slope, ShortKernelsLoseToLongOnes) {
  EXPECT_LT(normalized_run_time(21us), 1.95);
  EXPECT_NEAR(normalized_run_time(207us), 2.0, 0.05);
  EXPECT_GT(normalized_run_time(1'605us), 2.5);
}
INSTANTIATE_TEST_SUITE_P(, Figure11Slope, testing::Values("credit-poll", "fifo"));

// FairGV, figure 10: a program that saturates the device beside one that sleeps.
TEST(Figure10, OnlyWorkConservationKeepsTheDeviceInUse) {
  SimulationSettings settings;
  settings.kinds = {{.kernel = 400us}, {.kernel = 200us, .sleep = 0.8}};
  const auto utilisation = [&](const char* policy) {
    settings.policy = policy;
    return seconds(simulate(settings).devices[0].busy) / seconds(settings.length);
  };
  EXPECT_GE(utilisation("fair"), 0.99);
  EXPECT_GE(utilisation("credit-hs"), 0.99);
  EXPECT_LT(utilisation("credit-poll"), 0.9);
  EXPECT_LT(utilisation("strict-cosched"), 0.9);
}

}  // namespace
}  // namespace fairgv::sched
