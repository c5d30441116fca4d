// Guarantees, ceilings and classes of service: what the registry of tenants lets in, and says beforehand.
#include <gtest/gtest.h>

#include "runtime/daemon/tenants/tenants.hpp"
#include "tests/unit/daemon/tenants/users.hpp"

namespace fairgv::daemon {
namespace {

using session::parse_max;
using session::parse_min;
using session::parse_service;

session::TenantWish wish_of(const std::string& min, const std::string& max = "",
                            const std::string& service = "") {
  session::TenantWish wish;
  if (!min.empty()) wish.min = parse_min(min, "min").value();
  if (!max.empty()) wish.max = parse_max(max, "max").value();
  if (!service.empty()) wish.service = parse_service(service, "class").value();
  return wish;
}

/// Programs may ask for everything.
TenantRules all_allowed() {
  TenantRules rules;
  rules.allow_min = sched::kWholeDevice;
  rules.allow_service = {"normal", "latency", "batch"};
  return rules;
}

std::string refusal_of(const TenantRegistry& registry, const std::string& name,
                       const session::TenantWish& wish) {
  const auto prospect = registry.would_admit(name, {kAlice}, wish);
  return prospect.refusal ? prospect.refusal->message : "";
}

TEST(TenantProspect, AreForeseenAsTheProgramThenGetsThem) {
  TenantRegistry registry(all_allowed());
  const auto wish = wish_of("20%", "50%", "latency:5ms");
  const auto prospect = registry.would_admit("a", {kAlice}, wish);
  EXPECT_FALSE(prospect.refusal);
  EXPECT_TRUE(registry.all().empty()) << "to ask changes nothing";
  const auto joined = registry.join("a", {kAlice}, wish);
  ASSERT_TRUE(joined);
  EXPECT_EQ(prospect.attributes, joined->attributes);
  EXPECT_EQ(session::to_text(joined->attributes.min), "20%");
  // One more program of the tenant, which asks for nothing, has what the tenant has.
  EXPECT_EQ(registry.would_admit("a", {kAlice}, {}).attributes, joined->attributes);
}

TEST(TenantProspect, BeyondWhatIsLeftAreForeseenToBeRefusedWithTheSameLine) {
  TenantRegistry registry(all_allowed());
  ASSERT_TRUE(registry.join("a", {kAlice}, wish_of("50%")));
  const std::string why = refusal_of(registry, "b", wish_of("40%"));
  EXPECT_NE(why.find("tenant 'b' cannot have a guarantee of 40%: 35% is left of the 90%"), std::string::npos)
      << why;
  EXPECT_EQ(registry.join("b", {kAlice}, wish_of("40%")).error().message, why);
  EXPECT_EQ(refusal_of(registry, "b", wish_of("35%")), "");
  EXPECT_EQ(refusal_of(registry, "a", wish_of("70%")), "") << "its own guarantee is not in its way";
  const auto refused = registry.would_admit("b", {kAlice}, wish_of("40%")).attributes;
  EXPECT_TRUE(refused.min.empty()) << "what it has without the wish";
}

TEST(TenantProspect, ThatTheConfigurationDoesNotAllowAreForeseenToBeRefused) {
  TenantRegistry registry({});
  EXPECT_NE(refusal_of(registry, "a", wish_of("1%")).find("(allow_min)"), std::string::npos);
  EXPECT_NE(refusal_of(registry, "a", wish_of("", "", "latency")).find("(allow_class)"), std::string::npos);
  EXPECT_EQ(refusal_of(registry, "a", wish_of("", "50%", "batch")), "");
}

TEST(TenantProspect, OfTenantsThatMayBeOverbookedTurnIntoTheBatchClass) {
  TenantRules rules = all_allowed();
  rules.refuse_overbooked = false;
  TenantRegistry registry(rules);
  ASSERT_TRUE(registry.join("a", {kAlice}, wish_of("80%")));
  const auto prospect = registry.would_admit("b", {kAlice}, wish_of("30%"));
  EXPECT_FALSE(prospect.refusal);
  EXPECT_TRUE(prospect.attributes.min.empty());
  EXPECT_EQ(prospect.attributes.service, sched::ServiceClass::batch);
}

TEST(TenantProspect, OfATenantThatIsRefusedAreTheConfigurations) {
  TenantRules rules = all_allowed();
  rules.by_name["a"].min = parse_min("30%", "min").value();
  rules.by_name["a"].session_limit = 1;
  TenantRegistry registry(rules);
  ASSERT_TRUE(registry.join("a", {kAlice}, {}));
  const auto prospect = registry.would_admit("a", {kAlice}, {});
  EXPECT_TRUE(prospect.refusal);
  EXPECT_EQ(session::to_text(prospect.attributes.min), "30%");
}

TEST(TenantProspect, AddUpOverTenantsThatRunAndTablesOfTheConfiguration) {
  TenantRules rules = all_allowed();
  rules.by_name["pinned"].min = parse_min("10%", "min").value();
  TenantRegistry registry(rules);
  EXPECT_EQ(session::to_text(registry.promised().sum), "15%") << "the floor of the batch class is 5 %";
  EXPECT_EQ(session::to_text(registry.promised().limit), "90%");
  const auto joined = registry.join("a", {kAlice}, wish_of("20%"));
  ASSERT_TRUE(joined && registry.join("pinned", {kAlice}, {}));
  EXPECT_EQ(session::to_text(registry.promised().sum), "35%")
      << "a table counts once, whether its tenant runs or not";
  registry.retire(joined->id);
  EXPECT_EQ(session::to_text(registry.promised().sum), "15%");
}

TEST(TenantProspect, SetTogetherHoldTogetherOrNotAtAll) {
  TenantRegistry registry(all_allowed());
  const auto joined = registry.join("a", {kAlice}, {});
  ASSERT_TRUE(joined);
  auto wish = wish_of("95%", "99%", "batch");
  wish.weight = 7;
  EXPECT_FALSE(registry.set("a", wish, kAlice, false));
  EXPECT_EQ(registry.all().at(0).attributes, joined->attributes);
  wish.min = parse_min("40%", "min").value();
  ASSERT_TRUE(registry.set("a", wish, kAlice, false));
  const sched::TenantAttributes now = registry.all().at(0).attributes;
  EXPECT_EQ(now.weight, 7u);
  EXPECT_EQ(session::to_text(now.max), "99%");
  EXPECT_EQ(now.service, sched::ServiceClass::batch);
}

}  // namespace
}  // namespace fairgv::daemon
