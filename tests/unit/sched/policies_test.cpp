// The contract of policy.hpp, checked for every policy of the registry.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "sched/simulator/simulation.hpp"
#include "tests/unit/sched/policy_player.hpp"
#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

struct EveryPolicy : testing::TestWithParam<PolicyInfo> {
  PolicyPlayer player{GetParam().name, 6ms};
};

TEST_P(EveryPolicy, IsFoundByItsName) {
  ASSERT_NE(player.policy, nullptr);
  EXPECT_EQ(find_policy(GetParam().name)->name, GetParam().name);
  EXPECT_NE(policy_names().find(GetParam().name), std::string::npos);
}

TEST_P(EveryPolicy, GrantsNoTurnWhileNoTenantIsRunnable) {
  EXPECT_FALSE(player.next());
  player.policy->add(kA, {1}, player.now);
  EXPECT_FALSE(player.next());
  player.policy->wake(kA, player.now);
  EXPECT_EQ(player.next(), kA);
  player.policy->block(kA, player.now);
  EXPECT_FALSE(player.next());
}

TEST_P(EveryPolicy, AnswersTheSameWhenAskedTwice) {
  for (const TenantId id : {kA, kB, kC}) player.add_runnable(id);
  for (int turn = 0; turn < 30; ++turn) {
    EXPECT_EQ(player.next(), player.next());
    player.run(5ms);
  }
}

TEST_P(EveryPolicy, GivesEveryRunnableTenantItsShare) {
  player.add_runnable(kA, 1);
  player.add_runnable(kB, 2);
  player.add_runnable(kC, 3);
  for (int turn = 0; turn < 600; ++turn) player.run(6ms);
  for (const TenantId id : {kA, kB, kC}) {
    const double ideal = GetParam().weighted ? id.value / 6.0 : 1.0 / 3;
    EXPECT_NEAR(player.share(id), ideal, 0.01) << "tenant " << id.value;
  }
}

TEST_P(EveryPolicy, IgnoresEventsOfUnknownTenants) {
  player.add_runnable(kA);
  player.policy->wake(kB, player.now);
  player.policy->charge(kB, 1s, player.now);
  player.policy->begin(kB, player.now);
  player.policy->end(kB, player.now);
  EXPECT_FALSE(player.policy->preempts(kB, kC, player.now));
  player.policy->block(kB, player.now);
  player.policy->set_attributes(kB, {7}, player.now);
  player.policy->remove(kB, player.now);
  EXPECT_TRUE(player.policy->may_forget(kB));
  EXPECT_EQ(player.run(1ms), kA);
}

TEST_P(EveryPolicy, ForgetsATenantThatIsRemovedDuringItsTurn) {
  player.add_runnable(kA);
  const TenantId first = *player.next();
  player.add_runnable(kB);
  player.policy->begin(first, player.now);
  player.policy->remove(first, player.now);
  player.policy->end(first, player.now);
  player.now += 6ms;  // fixed turns pass
  EXPECT_EQ(player.next(), kB);
}

TEST_P(EveryPolicy, ThrowsForATenantAddedTwiceAndForWeightsOutOfRange) {
  player.policy->add(kA, {1}, player.now);
  EXPECT_THROW(player.policy->add(kA, {1}, player.now), std::invalid_argument);
  EXPECT_THROW(player.policy->add(kB, {0}, player.now), std::invalid_argument);
  EXPECT_THROW(player.policy->set_attributes(kA, {kMaxWeight + 1}, player.now), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(All, EveryPolicy, testing::ValuesIn(all_policies().begin(), all_policies().end()),
                         [](const auto& test) {
                           std::string name(test.param.name);
                           std::erase(name, '-');
                           return name;
                         });

TEST(PoliciesWithCeilings, ACeilingHoldsForATenantThatIsAlone) {
  for (const PolicyInfo& info : all_policies()) {
    if (!info.keeps.max) continue;
    PolicyPlayer player(info.name, 6ms);
    TenantAttributes attributes;
    attributes.max = {300'000};
    player.policy->add(kA, attributes, player.now);
    player.policy->wake(kA, player.now);
    const Time begin = player.now;
    while (player.now < begin + 10s) {
      const Decision decision = player.policy->next(player.now);
      if (decision.turn) {
        EXPECT_TRUE(decision.turn->bounded) << info.name;
        player.run(decision.turn->slice);
      } else {
        ASSERT_TRUE(decision.ask_again) << info.name;
        ASSERT_GT(*decision.ask_again, player.now) << info.name;
        player.now = *decision.ask_again;
      }
    }
    EXPECT_LE(player.total[kA], 3s + 6ms) << info.name;
    EXPECT_GE(player.total[kA], 2'900ms) << info.name;
  }
}

// Every policy with and without a promise, beside a tenant without: whether that changes anything is what the
// registry says.
TEST(PolicyRegistry, SaysWhichPromisesAPolicyTakesNoticeOf) {
  struct Promise {
    const char* name;
    TenantAttributes attributes;
    bool KeptPromises::*kept;
  };
  const Promise promises[] = {
      {"min", {.weight = 1, .min = {60ms, 100ms}}, &KeptPromises::min},
      {"max", {.weight = 1, .max = Share{200'000}}, &KeptPromises::max},
      {"class", {.weight = 1, .service = ServiceClass::batch}, &KeptPromises::service}};
  for (const PolicyInfo& info : all_policies()) {
    for (const Promise& promise : promises) {
      const auto time_of_a = [&](const TenantAttributes& attributes) {
        SimulationSettings settings;
        settings.policy = info.name;
        settings.length = 20s;
        settings.kinds = {{.attributes = attributes}, {.attributes = {.weight = 1}}};
        return simulate(settings).devices[0].tenants[0].used;
      };
      const Duration without = time_of_a({.weight = 1});
      const Duration with = time_of_a(promise.attributes);
      const bool changes = std::max(with, without) - std::min(with, without) > 1s;
      EXPECT_EQ(changes, info.keeps.*promise.kept) << info.name << ", " << promise.name;
      EXPECT_EQ(unkept_promises(info, promise.attributes), changes ? "" : promise.name) << info.name;
    }
  }
  TenantAttributes all = promises[0].attributes;
  all.max = kWholeDevice;
  all.service = ServiceClass::latency;
  EXPECT_EQ(unkept_promises(*find_policy("fifo"), all), "min, class");
  EXPECT_EQ(unkept_promises(*find_policy("fifo"), {}), "");
}

TEST(PolicyRegistry, KnowsOnlyTheNamesOfItsPolicies) {
  EXPECT_EQ(find_policy("lottery"), nullptr);
  EXPECT_EQ(make_policy("lottery", 6ms), nullptr);
  EXPECT_EQ(all_policies().front().name, kDefaultPolicy);
}

}  // namespace
}  // namespace fairgv::sched
