// strict-cosched with a host: FairGV's algorithms 1 and 2.
#include <gtest/gtest.h>

#include "sched/policies/credit/strict_cosched.hpp"
#include "sched/simulator/simulation.hpp"
#include "tests/harness/seed.hpp"
#include "tests/unit/sched/policy_player.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

struct HostedCosched : testing::Test {
  PolicyPlayer player{"strict-cosched", 6ms};

  void host(TenantId id, bool scheduled) { player.policy->host(id, {scheduled, 0ms}, player.now); }
  Duration credit(TenantId id) const { return static_cast<CreditPolicy&>(*player.policy).credit(id); }
  TenantId begin_next() {
    const TenantId tenant = player.next().value();
    player.policy->begin(tenant, player.now);
    return tenant;
  }
  void end(TenantId tenant) { player.policy->end(tenant, player.now); }
};

TEST_F(HostedCosched, TheHostsRequestPreemptsTheTenantThatHasTheDevice) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  host(kA, false);
  const TenantId holder = begin_next();
  ASSERT_EQ(holder, kA);
  player.now += 1ms;
  host(kB, true);
  EXPECT_TRUE(player.policy->must_yield(kA, player.now));
  end(kA);
  EXPECT_EQ(player.next(), kB);
}

TEST_F(HostedCosched, ThePreemptedTenantPaysForItsSliceAndGoesToTheTail) {
  for (const TenantId id : {kA, kB, kC}) player.add_runnable(id);
  host(kA, false);
  ASSERT_EQ(begin_next(), kA);
  player.now += 1ms;
  host(kC, true);
  ASSERT_TRUE(player.policy->must_yield(kA, player.now));
  end(kA);
  EXPECT_EQ(credit(kA), -4ms) << "6 paid and 2 handed out, though it had 1 ms";
  ASSERT_EQ(player.run(6ms), kC);
  host(kC, false);
  EXPECT_EQ(player.run(6ms), kB) << "A waits for the others";
}

TEST_F(HostedCosched, ATargetWithFewerCreditsThanARivalOnAnotherProcessorIsRefused) {
  for (const TenantId id : {kA, kB, kC}) player.add_runnable(id);
  host(kA, false);
  ASSERT_EQ(player.run(6ms), kA);
  ASSERT_EQ(player.run(6ms), kB);
  ASSERT_LT(credit(kA), credit(kC));
  ASSERT_EQ(begin_next(), kC);
  end(kC);
  host(kC, true);
  host(kA, true);
  ASSERT_EQ(begin_next(), kC) << "both are requested, and C has more credits";
  host(kA, true);
  EXPECT_FALSE(player.policy->must_yield(kC, player.now)) << "C continues";
  host(kC, false);
  EXPECT_FALSE(player.policy->must_yield(kC, player.now)) << "the request is lost";
  host(kA, true);
  EXPECT_TRUE(player.policy->must_yield(kC, player.now)) << "no rival any more";
}

TEST_F(HostedCosched, TheTenantThatHasTheDeviceIsNotPreemptedByItsOwnRequest) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  host(kA, true);
  ASSERT_EQ(begin_next(), kA);
  host(kA, true);
  EXPECT_FALSE(player.policy->must_yield(kA, player.now));
}

TEST_F(HostedCosched, OnlyATenantThatWantsTheDeviceIsRequested) {
  player.add_runnable(kA);
  player.policy->add(kB, {}, player.now);
  host(kB, true);
  ASSERT_EQ(begin_next(), kA);
  EXPECT_FALSE(player.policy->must_yield(kA, player.now));
  player.policy->wake(kB, player.now);
  EXPECT_EQ(player.policy->preempts(kB, kA, player.now), player.now) << "when it wakes, it is";
}

TEST_F(HostedCosched, ARequestIsForgottenIfTheHostFallsSilent) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  host(kB, true);
  EXPECT_EQ(player.next(), kB);
  player.now += StrictCoschedPolicy::kRequest + 1ns;
  EXPECT_EQ(player.next(), kA);
}

TEST_F(HostedCosched, TheDeviceIsKeptForATenantThatPausesOnlyWhileItHasAProcessor) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  host(kA, true);
  const Time began = player.now;
  EXPECT_EQ(player.run_and_pause(1ms), began + 6ms);
  host(kA, false);
  player.policy->block(kA, player.now);
  EXPECT_EQ(player.run_and_pause(1ms), std::nullopt);
}

TEST_F(HostedCosched, ATenantThatComesBackHasTheRestOfItsSlice) {
  player.add_runnable(kA);
  host(kA, true);
  ASSERT_TRUE(player.run_and_pause(1ms));
  player.policy->wake(kA, player.now += 2ms);
  EXPECT_EQ(player.policy->next(player.now).turn->slice, 3ms);
}

TEST_F(HostedCosched, CreditsSurviveAChangeOfPolicy) {
  player.add_runnable(kA);
  player.add_runnable(kB);
  player.run(6ms);
  const TenantBudget budget = player.policy->budget(kA, player.now);
  ASSERT_TRUE(budget.reserve);
  StrictCoschedPolicy next(6ms);
  next.add(kA, {}, player.now);
  next.restore(kA, budget, player.now);
  EXPECT_EQ(next.credit(kA), credit(kA));
  next.restore(kA, {.reserve = ReserveState{-1h, {}}}, player.now);
  EXPECT_EQ(next.credit(kA), -6ms);
}

struct CoschedSimulation : testing::Test {
  SimulationSettings settings;

  /// A client that never waits; with host_work it waits for every kernel.
  TenantSpec client(std::uint32_t weight, std::size_t processor, Duration host_work) {
    TenantSpec spec;
    spec.attributes.weight = weight;
    spec.attributes.host_weight = 100 * weight;
    spec.burst = 1;
    spec.host_work = host_work;
    spec.processor = processor;
    return spec;
  }
  /// Device time by weight, relative to the first.
  std::vector<double> relative(const char* policy) {
    settings.policy = policy;
    settings.slices = SliceRule::constant(6ms);
    settings.length = 30s;
    settings.host.polls = true;
    const DeviceOutcome device = simulate(settings).devices[0];
    std::vector<double> times;
    for (std::size_t i = 0; i < settings.kinds.size(); ++i) {
      times.push_back(static_cast<double>(device.tenants[i].used.count()) /
                      settings.kinds[i].attributes.weight);
    }
    for (double& time : times) time /= settings.kinds.empty() ? 1 : static_cast<double>(device.busy.count());
    return times;
  }
};

// FairGV, section 3.2.3: "it allows a certain amount of preemption", and 5.4.3, non-interactive programs.
TEST_F(CoschedSimulation, TenantsThatAreDueMoreArePreemptedMoreAndLose) {
  settings.seed = harness::printed_seed();
  settings.host.processors = 1;
  settings.kinds = {client(1, 0, 0ns), client(2, 0, 0ns), client(3, 0, 0ns)};
  const auto strict = relative("strict-cosched");
  EXPECT_GT(strict[0], 1.15 * strict[2]);
  const auto credit = relative("credit-poll");
  EXPECT_NEAR(credit[0] / credit[2], 1, 0.05);
}

// Section 5.4.4: "On the same core, a vCPU with a high weight achieves better performance".
TEST_F(CoschedSimulation, OfTwoInteractiveClientsOnOneProcessorTheHeavierIsBetterOff) {
  settings.seed = harness::printed_seed();
  settings.host.processors = 3;
  settings.kinds = {client(1, 0, 20us), client(2, 0, 20us), client(2, 1, 20us),
                    client(3, 1, 20us), client(3, 2, 20us), client(4, 2, 20us)};
  const auto strict = relative("strict-cosched");
  for (const std::size_t light : {0U, 2U, 4U}) EXPECT_GT(strict[light + 1], strict[light]) << light;
}

TEST_F(CoschedSimulation, OneProcessorsInteractiveClientsShareByWeight) {
  settings.seed = harness::printed_seed();
  settings.host.processors = 1;
  settings.kinds = {client(1, 0, 20us), client(2, 0, 20us), client(3, 0, 20us)};
  const auto strict = relative("strict-cosched");
  EXPECT_NEAR(strict[0] / strict[2], 1, 0.03);
  EXPECT_LT(relative("credit-poll")[0] / strict[0], 0.95) << "polling wastes the device";
}

}  // namespace
}  // namespace fairgv::sched
