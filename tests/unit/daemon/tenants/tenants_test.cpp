// Tenants' names and weights: users that may take and change them.
#include <gtest/gtest.h>

#include "runtime/daemon/tenants/tenants.hpp"
#include "tests/unit/daemon/tenants/users.hpp"

namespace fairgv::daemon {
namespace {

TenantRules rules_with(const std::string& name, TenantRule rule) {
  TenantRules rules;
  rules.by_name[name] = rule;
  return rules;
}

void end(TenantRegistry& registry, TenantId id) {
  registry.retire(id);
  registry.leave(id);
}

std::uint32_t weight_of(Result<Tenant> tenant) {
  return tenant ? tenant->attributes.weight : 0;
}

TEST(Tenants, WithoutAWishGetTheDefaultWeight) {
  TenantRules rules;
  rules.default_weight = 3;
  TenantRegistry registry(rules);
  EXPECT_EQ(weight_of(registry.join("a", {kAlice}, {})), 3u);
}

TEST(Tenants, GetTheWeightThatTheirLatestProgramAskedFor) {
  TenantRegistry registry({});
  EXPECT_EQ(weight_of(registry.join("a", {kAlice}, {.weight = 5})), 5u);
  EXPECT_EQ(weight_of(registry.join("a", {kAlice}, {})), 5u);
  EXPECT_EQ(weight_of(registry.join("a", {kAlice}, {.weight = 7})), 7u);
}

TEST(Tenants, AskForNoMoreThanIsAllowed) {
  TenantRules rules = rules_with("a", {.weight = {}, .max_weight = 4, .uid = {}});
  rules.max_weight = 20;
  TenantRegistry registry(rules);
  EXPECT_EQ(weight_of(registry.join("a", {kAlice}, {.weight = 100})), 4u);
  EXPECT_EQ(weight_of(registry.join("b", {kAlice}, {.weight = 100})), 20u);
}

TEST(Tenants, WithAPinnedWeightAskInVain) {
  TenantRules rules = rules_with("a", {.weight = 50, .max_weight = {}, .uid = {}});
  rules.max_weight = 10;
  TenantRegistry registry(rules);
  EXPECT_EQ(weight_of(registry.join("a", {kAlice}, {.weight = 2})), 50u);
}

TEST(Tenants, ForgetTheirWishWithTheLastSession) {
  TenantRegistry registry({});
  const auto first = registry.join("a", {kAlice}, {.weight = 5});
  ASSERT_TRUE(first);
  ASSERT_TRUE(registry.join("a", {kAlice}, {}));
  end(registry, first->id);
  EXPECT_EQ(weight_of(registry.join("a", {kAlice}, {})), 5u);
  end(registry, first->id);
  end(registry, first->id);
  const auto later = registry.join("a", {kAlice}, {});
  EXPECT_EQ(weight_of(later), 1u);
  EXPECT_EQ(later->id, first->id);  // so that its debt is still its own
}

TEST(Tenants, KeepANameThatIsInUseFromOtherUsers) {
  TenantRegistry registry({});
  const auto alice = registry.join("a", {kAlice}, {});
  ASSERT_TRUE(alice);
  const auto bob = registry.join("a", {kBob}, {});
  ASSERT_FALSE(bob);
  EXPECT_NE(bob.error().message.find("'a' is in use by user 1000"), std::string::npos) << bob.error().message;
  end(registry, alice->id);
  EXPECT_TRUE(registry.join("a", {kBob}, {}));
}

TEST(Tenants, KeepAReservedNameForItsUser) {
  TenantRegistry registry(rules_with("a", {.weight = {}, .max_weight = {}, .uid = kAlice}));
  EXPECT_FALSE(registry.join("a", {kBob}, {}));
  EXPECT_TRUE(registry.join("a", {kAlice}, {}));
}

TEST(Tenants, KeepALoginsNameForItsUser) {
  TenantRegistry registry({});
  const TenantRegistry::Applicant bob{kBob, false, kAlice};
  const auto refused = registry.join("alice", bob, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("'alice' is named after user 1000"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(registry.join("alice", {kAlice, false, kAlice}, {}));
}

TEST(Tenants, GiveALoginsNameToAnotherUserOnlyIfTheConfigurationOrAnAdministratorDoes) {
  TenantRegistry reserved(rules_with("alice", {.uid = kBob}));
  EXPECT_TRUE(reserved.join("alice", {kBob, false, kAlice}, {}));
  EXPECT_FALSE(reserved.join("alice", {kAlice, false, kAlice}, {}));
  EXPECT_FALSE(reserved.join("alice", {0, kAdministrator, kAlice}, {}));
  TenantRegistry registry({});
  EXPECT_TRUE(registry.join("alice", {0, kAdministrator, kAlice}, {}));
}

TEST(Tenants, AreOnlyThoseThatTheConfigurationKnowsIfItSaysSo) {
  TenantRules rules = rules_with("batch", {.uid = kBob});
  rules.free_names = false;
  TenantRegistry registry(rules);
  EXPECT_FALSE(registry.join("second", {kBob, false, {}}, {}));
  EXPECT_TRUE(registry.join("batch", {kBob, false, {}}, {}));
  EXPECT_TRUE(registry.join("bob", {.uid = kBob, .namesake = kBob, .by_default = true}, {}));
  EXPECT_FALSE(registry.join("uid-1001", {.uid = kBob, .namesake = kBob}, {})) << "a second name";
  EXPECT_TRUE(registry.join("anything", {0, kAdministrator, {}}, {}));
}

TEST(Tenants, HaveNoMoreSessionsThanTheyMay) {
  TenantRules rules = rules_with("b", {.session_limit = 1});
  rules.session_limit = 2;
  TenantRegistry registry(rules);
  const auto tenant = registry.join("a", {kAlice}, {});
  ASSERT_TRUE(tenant && registry.join("a", {kAlice}, {}));
  EXPECT_FALSE(registry.join("a", {kAlice}, {.weight = 9}));
  EXPECT_EQ(registry.find(tenant->id)->sessions, 2u);
  EXPECT_EQ(registry.find(tenant->id)->attributes.weight, 1u);
  end(registry, tenant->id);
  EXPECT_TRUE(registry.join("a", {kAlice}, {}));
  EXPECT_TRUE(registry.join("b", {kAlice}, {}));
  EXPECT_FALSE(registry.join("b", {kAlice}, {}));
}

TEST(Tenants, AFreedNameComesWithoutWhatItsLastUserWasGiven) {
  TenantRegistry registry(rules_with("a", {.max_weight = 4}));
  const auto tenant = registry.join("a", {kAlice}, {.weight = 3});
  ASSERT_TRUE(tenant);
  ASSERT_TRUE(registry.set("a", {.weight = 9}, 0, kAdministrator));
  end(registry, tenant->id);
  EXPECT_FALSE(registry.set("a", {.weight = 2}, kAlice, false));
  EXPECT_EQ(weight_of(registry.join("a", {kBob}, {})), 1u);
  EXPECT_FALSE(registry.set("a", {.weight = 2}, kAlice, false));
  EXPECT_TRUE(registry.set("a", {.weight = 2}, kBob, false));
}

TEST(Tenants, AUserDoesNotLowerOrRaiseWhatAnAdministratorHasSet) {
  TenantRegistry registry({});
  ASSERT_TRUE(registry.join("a", {kAlice}, {.weight = 3}));
  ASSERT_TRUE(registry.set("a", {.weight = 2}, 0, kAdministrator));
  EXPECT_FALSE(registry.set("a", {.weight = 5}, kAlice, false));
  EXPECT_EQ(weight_of(registry.join("a", {kAlice}, {.weight = 7})), 2u);
}

TEST(Tenants, AWeightSetByAnAdministratorHoldsUntilTheLastSessionEnds) {
  TenantRegistry registry(rules_with("a", {.weight = {}, .max_weight = 4, .uid = {}}));
  const auto tenant = registry.join("a", {kAlice}, {.weight = 2});
  ASSERT_TRUE(tenant);
  EXPECT_EQ(weight_of(registry.set("a", {.weight = 9}, 0, kAdministrator)), 9u);
  EXPECT_EQ(weight_of(registry.join("a", {kAlice}, {.weight = 3})), 9u);
  end(registry, tenant->id);
  end(registry, tenant->id);
  EXPECT_EQ(weight_of(registry.join("a", {kAlice}, {.weight = 3})), 3u);
}

TEST(Tenants, AUserSetsOnlyTheOwnTenantAndWithinTheRules) {
  TenantRegistry registry(rules_with("a", {.weight = {}, .max_weight = 4, .uid = {}}));
  ASSERT_TRUE(registry.join("a", {kAlice}, {.weight = 2}));
  EXPECT_EQ(weight_of(registry.set("a", {.weight = 3}, kAlice, false)), 3u);
  EXPECT_FALSE(registry.set("a", {.weight = 5}, kAlice, false));
  EXPECT_FALSE(registry.set("a", {.weight = 1}, kBob, false));
  EXPECT_EQ(registry.all().front().attributes.weight, 3u);
}

TEST(Tenants, OnlyRunningOnesCanBeSet) {
  TenantRegistry registry({});
  EXPECT_FALSE(registry.set("a", {.weight = 2}, 0, kAdministrator));
  const auto tenant = registry.join("a", {kAlice}, {});
  ASSERT_TRUE(tenant);
  end(registry, tenant->id);
  EXPECT_FALSE(registry.set("a", {.weight = 2}, 0, kAdministrator));
}

TEST(Tenants, FollowNewRules) {
  TenantRegistry registry({});
  const auto tenant = registry.join("a", {kAlice}, {.weight = 5});
  ASSERT_TRUE(tenant);
  registry.configure(rules_with("a", {.weight = {}, .max_weight = 2, .uid = {}}));
  EXPECT_EQ(registry.find(tenant->id)->attributes.weight, 2u);
  registry.configure({});
  EXPECT_EQ(registry.find(tenant->id)->attributes.weight, 5u);
}

TEST(Tenants, AreForgottenOnlyWithoutSessions) {
  TenantRegistry registry({});
  const auto tenant = registry.join("a", {kAlice}, {});
  ASSERT_TRUE(tenant);
  registry.forget(tenant->id);
  EXPECT_NE(registry.find(tenant->id), nullptr);
  end(registry, tenant->id);
  registry.forget(tenant->id);
  EXPECT_EQ(registry.find(tenant->id), nullptr);
}

// A worker takes its time to die, and the next program starts before that.
TEST(Tenants, AProgramsWishEndsWithItThoughItsWorkerIsStillDying) {
  constexpr std::uint64_t kCapacity = std::uint64_t{1} << 30;
  TenantRegistry registry{TenantRules{}};
  const auto first = registry.join("alice", {kAlice}, {.weight = 5}, MemorySize{4096});
  ASSERT_TRUE(registry.set("alice", {.weight = 7}, 0, kAdministrator));
  ASSERT_TRUE(registry.join("alice", {kAlice}, {}));
  registry.retire(first->id);
  EXPECT_EQ(registry.memory_bounds("alice", kCapacity).limit, 4096U) << "the other one still runs";
  EXPECT_EQ(weight_of(*registry.find(first->id)), 7U);

  registry.retire(first->id);
  EXPECT_FALSE(registry.set("alice", {.weight = 9}, 0, kAdministrator))
      << "there is no running program to give the weight to";
  EXPECT_EQ(weight_of(registry.join("alice", {kAlice}, {})), 1U);
  EXPECT_EQ(registry.memory_bounds("alice", kCapacity).limit, kCapacity);
  EXPECT_EQ(registry.find(first->id)->sessions, 3U);
  registry.leave(first->id);
  registry.leave(first->id);
  registry.leave(first->id);
  EXPECT_EQ(registry.find(first->id)->sessions, 1U) << "only the retired session leaves";
}

TEST(Tenants, OfARuleArePeoplesOfSeveralUsersAndTheAdministratorsToChange) {
  TenantRules rules;
  rules.free_names = false;
  TenantRegistry registry(rules);
  const TenantRegistry::Applicant alice{.uid = kAlice, .assigned = true};
  const TenantRegistry::Applicant bob{.uid = kBob, .assigned = true};
  const auto tenant = registry.join("batch", alice, {});
  ASSERT_TRUE(tenant) << tenant.error().message;
  EXPECT_TRUE(registry.join("batch", bob, {}));
  EXPECT_FALSE(registry.join("batch", {kAlice, false, {}}, {})) << "only by the rule";
  EXPECT_FALSE(registry.set("batch", {.weight = 2}, kAlice, false));
  EXPECT_FALSE(registry.set("batch", {.weight = 2}, kBob, false));
  EXPECT_TRUE(registry.set("batch", {.weight = 2}, 0, kAdministrator));
}

TEST(Tenants, OfARuleThatAreReservedForAUserAreForNobodyElse) {
  TenantRegistry registry(rules_with("a", {.uid = kAlice}));
  EXPECT_TRUE(registry.join("a", {.uid = kAlice, .assigned = true}, {}));
  EXPECT_FALSE(registry.join("a", {.uid = kBob, .assigned = true}, {}));
}

TEST(Tenants, AskedForByNameAreNotJoinedByOthersThroughARule) {
  TenantRegistry registry({});
  ASSERT_TRUE(registry.join("a", {kAlice}, {}));
  EXPECT_FALSE(registry.join("a", {.uid = kBob, .assigned = true}, {}));
}

TEST(Tenants, HaveTheClassOfTheirRuleWhileTheyRun) {
  constexpr std::uint64_t kCapacity = 1'000;
  TenantRules rules;
  rules.classes["gold"] = {.weight = 8, .memory = MemorySize{0, 50}, .session_limit = 2};
  TenantRegistry registry(rules);
  const TenantRegistry::Applicant golden{.uid = kAlice, .assigned = true, .class_name = "gold"};
  const auto tenant = registry.join("a", golden, {.weight = 3});
  EXPECT_EQ(weight_of(tenant), 8U);
  EXPECT_EQ(registry.memory_bounds("a", kCapacity).limit, 500U);
  EXPECT_TRUE(registry.join("a", golden, {}));
  EXPECT_FALSE(registry.join("a", golden, {})) << "the class has a limit of sessions";
  rules.classes["gold"].weight = 4;
  registry.configure(rules);
  EXPECT_EQ(registry.find(tenant->id)->attributes.weight, 4U);
  end(registry, tenant->id);
  end(registry, tenant->id);
  EXPECT_EQ(weight_of(registry.join("a", {kAlice}, {.weight = 3})), 3U)
      << "without the rule there is no class";
  EXPECT_EQ(registry.memory_bounds("a", kCapacity).limit, kCapacity);
}

TEST(Tenants, OfADaemonBeforeAreTakenOverWhateverTheRulesNowSay) {
  TenantRegistry registry(rules_with("a", {.uid = kBob}));
  EXPECT_TRUE(registry.join("a", {.uid = kAlice, .runs_already = true}, {}));
}

}  // namespace
}  // namespace fairgv::daemon
