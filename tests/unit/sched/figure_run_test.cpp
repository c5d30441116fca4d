// Experiments that are run many times over: on many devices, among many tenants.
#include "sched/simulator/figures/figure.hpp"

#include <gtest/gtest.h>

#include "sched/simulator/figures/pegasus.hpp"
#include "sched/simulator/figures/timegraph.hpp"
#include "tests/harness/sanitized.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

double seconds_of(Duration time) {
  return std::chrono::duration<double>(time).count();
}

SimulationSettings two_clients() {
  SimulationSettings settings;
  settings.kinds = {{.attributes = {.weight = 1}}, {.attributes = {.weight = 2}}};
  settings.length = 20s;
  return settings;
}

TEST(FigureRun, WithoutFurtherTenantsIsTheExperimentItself) {
  const SimulationResult itself = simulate(two_clients());
  for (const auto& outcomes :
       {simulate_copies(two_clients(), {}), simulate_among_sleepers(two_clients(), {}, {.tenants = 2})}) {
    ASSERT_EQ(outcomes.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(outcomes[i].used, itself.devices[0].tenants[i].used);
      EXPECT_EQ(outcomes[i].waits, itself.devices[0].tenants[i].waits);
    }
  }
}

TEST(FigureRun, CopiesOfAClientHaveItsWeightTogether) {
  const auto outcomes = simulate_copies(two_clients(), {.devices = 3, .tenants = 30});
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_NEAR(seconds_of(outcomes[0].used + outcomes[1].used), 20, 0.1) << "the mean of busy devices";
  EXPECT_NEAR(seconds_of(outcomes[1].used) / seconds_of(outcomes[0].used), 2, 0.05);
  const auto one = simulate_copies(two_clients(), {.devices = 1, .tenants = 10});
  EXPECT_GT(outcomes[0].waits.size(), 2 * one[0].waits.size()) << "those of all devices";
}

TEST(FigureRun, CopiesSharePartsOfAGuaranteeAndHaveProcessorsOfTheirOwn) {
  SimulationSettings settings = two_clients();
  settings.policy = "slaf";
  settings.host = {.processors = 1};
  for (TenantSpec& kind : settings.kinds) {
    kind.attributes.min = {400ms, 1s};
    kind.host_work = 100us;
  }
  // Ten copies on ten processors have ten parts of each guarantee, and want the device as often as one.
  const auto outcomes = simulate_copies(settings, {.devices = 1, .tenants = 20});
  for (const TenantOutcome& outcome : outcomes) EXPECT_GT(seconds_of(outcome.used), 0.4 * 20 * 0.9);
}

TEST(FigureRun, SleepersLeaveTheDeviceToTheClients) {
  const auto outcomes = simulate_among_sleepers(two_clients(), {}, {.devices = 2, .tenants = 200});
  ASSERT_EQ(outcomes.size(), 2U);
  const double used = seconds_of(outcomes[0].used + outcomes[1].used);
  EXPECT_GT(used, 20 * 0.97);
  EXPECT_LT(used, 20 * 0.995) << "98 sleepers have a command of 100 us a second each";
}

/// FairGV's figures are left to `fairgv sim`: among a hundred tenants a client has few turns in a time that
/// is fit for a test, and its first one counts for much.
TEST(FigureRun, PublishedEffectsHoldAmongAHundredTenants) {
  if (harness::kSanitized) GTEST_SKIP() << "simulations of minutes";
  const FigureRun run{.seed = 1, .devices = 1, .tenants = 100, .time = 0.25};
  std::size_t effects = 0;
  for (const auto& rows : {pegasus_figures(run), timegraph_figures(run)}) {
    for (const FigureRow& row : rows) {
      // A guest with few credits for its processor waits for so long that it is ready all the same.
      if (row.figure == "Pegasus 6" && row.effect.starts_with("aug-credit")) continue;
      ++effects;
      EXPECT_TRUE(row.same) << row.figure << ", " << row.effect << ": " << row.ours;
    }
  }
  EXPECT_GT(effects, 70U);
}

}  // namespace
}  // namespace fairgv::sched
