// Who may use which tenant's name, and with which weight.
#include <gtest/gtest.h>

#include "runtime/daemon/tenants.hpp"

namespace fairgv::daemon {
namespace {

constexpr uid_t kAlice = 1'000;
constexpr uid_t kBob = 1'001;
constexpr bool kAdministrator = true;

TenantRules rules_with(const std::string& name, TenantRule rule) {
  TenantRules rules;
  rules.by_name[name] = rule;
  return rules;
}

std::uint32_t weight_of(Result<Tenant> tenant) {
  return tenant ? tenant->weight : 0;
}

TEST(Tenants, WithoutAWishGetTheDefaultWeight) {
  TenantRules rules;
  rules.default_weight = 3;
  TenantRegistry registry(rules);
  EXPECT_EQ(weight_of(registry.join("a", kAlice, {})), 3u);
}

TEST(Tenants, GetTheWeightThatTheirLatestProgramAskedFor) {
  TenantRegistry registry({});
  EXPECT_EQ(weight_of(registry.join("a", kAlice, 5)), 5u);
  EXPECT_EQ(weight_of(registry.join("a", kAlice, {})), 5u);
  EXPECT_EQ(weight_of(registry.join("a", kAlice, 7)), 7u);
}

TEST(Tenants, AskForNoMoreThanIsAllowed) {
  TenantRules rules = rules_with("a", {.weight = {}, .max_weight = 4, .uid = {}});
  rules.max_weight = 20;
  TenantRegistry registry(rules);
  EXPECT_EQ(weight_of(registry.join("a", kAlice, 100)), 4u);
  EXPECT_EQ(weight_of(registry.join("b", kAlice, 100)), 20u);
}

TEST(Tenants, WithAPinnedWeightAskInVain) {
  TenantRules rules = rules_with("a", {.weight = 50, .max_weight = {}, .uid = {}});
  rules.max_weight = 10;
  TenantRegistry registry(rules);
  EXPECT_EQ(weight_of(registry.join("a", kAlice, 2)), 50u);
}

TEST(Tenants, ForgetTheirWishWithTheLastSession) {
  TenantRegistry registry({});
  const auto first = registry.join("a", kAlice, 5);
  ASSERT_TRUE(first);
  ASSERT_TRUE(registry.join("a", kAlice, {}));
  registry.leave(first->id);
  EXPECT_EQ(weight_of(registry.join("a", kAlice, {})), 5u);
  registry.leave(first->id);
  registry.leave(first->id);
  const auto later = registry.join("a", kAlice, {});
  EXPECT_EQ(weight_of(later), 1u);
  EXPECT_EQ(later->id, first->id);  // so that its debt is still its own
}

TEST(Tenants, KeepANameThatIsInUseFromOtherUsers) {
  TenantRegistry registry({});
  const auto alice = registry.join("a", kAlice, {});
  ASSERT_TRUE(alice);
  const auto bob = registry.join("a", kBob, {});
  ASSERT_FALSE(bob);
  EXPECT_NE(bob.error().message.find("'a' is in use by user 1000"), std::string::npos) << bob.error().message;
  registry.leave(alice->id);
  EXPECT_TRUE(registry.join("a", kBob, {}));
}

TEST(Tenants, KeepAReservedNameForItsUser) {
  TenantRegistry registry(rules_with("a", {.weight = {}, .max_weight = {}, .uid = kAlice}));
  EXPECT_FALSE(registry.join("a", kBob, {}));
  EXPECT_TRUE(registry.join("a", kAlice, {}));
}

TEST(Tenants, AWeightSetByAnAdministratorHoldsUntilTheLastSessionEnds) {
  TenantRegistry registry(rules_with("a", {.weight = {}, .max_weight = 4, .uid = {}}));
  const auto tenant = registry.join("a", kAlice, 2);
  ASSERT_TRUE(tenant);
  EXPECT_EQ(weight_of(registry.set_weight("a", 9, 0, kAdministrator)), 9u);
  EXPECT_EQ(weight_of(registry.join("a", kAlice, 3)), 9u);
  registry.leave(tenant->id);
  registry.leave(tenant->id);
  EXPECT_EQ(weight_of(registry.join("a", kAlice, 3)), 3u);
}

TEST(Tenants, AUserSetsOnlyTheOwnTenantAndWithinTheRules) {
  TenantRegistry registry(rules_with("a", {.weight = {}, .max_weight = 4, .uid = {}}));
  ASSERT_TRUE(registry.join("a", kAlice, 2));
  EXPECT_EQ(weight_of(registry.set_weight("a", 3, kAlice, false)), 3u);
  EXPECT_FALSE(registry.set_weight("a", 5, kAlice, false));
  EXPECT_FALSE(registry.set_weight("a", 1, kBob, false));
  EXPECT_EQ(registry.all().front().weight, 3u);
}

TEST(Tenants, OnlyRunningOnesCanBeSet) {
  TenantRegistry registry({});
  EXPECT_FALSE(registry.set_weight("a", 2, 0, kAdministrator));
  const auto tenant = registry.join("a", kAlice, {});
  ASSERT_TRUE(tenant);
  registry.leave(tenant->id);
  EXPECT_FALSE(registry.set_weight("a", 2, 0, kAdministrator));
}

TEST(Tenants, FollowNewRules) {
  TenantRegistry registry({});
  const auto tenant = registry.join("a", kAlice, 5);
  ASSERT_TRUE(tenant);
  registry.configure(rules_with("a", {.weight = {}, .max_weight = 2, .uid = {}}));
  EXPECT_EQ(registry.find(tenant->id)->weight, 2u);
  registry.configure({});
  EXPECT_EQ(registry.find(tenant->id)->weight, 5u);
}

TEST(Tenants, AreForgottenOnlyWithoutSessions) {
  TenantRegistry registry({});
  const auto tenant = registry.join("a", kAlice, {});
  ASSERT_TRUE(tenant);
  registry.forget(tenant->id);
  EXPECT_NE(registry.find(tenant->id), nullptr);
  registry.leave(tenant->id);
  registry.forget(tenant->id);
  EXPECT_EQ(registry.find(tenant->id), nullptr);
}

}  // namespace
}  // namespace fairgv::daemon
