// Promises to tenants: which of them a program gets, and that only those are given which can be kept.
#include <gtest/gtest.h>

#include "runtime/daemon/tenants/tenants.hpp"
#include "runtime/daemon/tenants/unkept_promises.hpp"

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using sched::Reservation;
using sched::ServiceClass;
using sched::Share;
using session::ServiceWish;

constexpr uid_t kUser = 1000;
const TenantRegistry::Applicant kProgram{.uid = kUser};
const TenantRegistry::Applicant kRoot{.uid = 0, .administrator = true};
constexpr Reservation kFifth{10ms, 50ms};
constexpr Reservation kHalfReserved{25ms, 50ms};
constexpr Share k50Percent{500'000};

/// Programs may ask for half of a device and for any class.
TenantRules generous() {
  TenantRules rules;
  rules.allow_min = k50Percent;
  rules.allow_service = {"normal", "latency", "batch"};
  return rules;
}

std::string refusal(const Result<Tenant>& tenant) {
  return tenant ? "" : tenant.error().message;
}

TEST(TenantPromises, AProgramGetsWhatItAsksForWithinTheBounds) {
  TenantRegistry registry(generous());
  const auto tenant = registry.join(
      "a", kProgram, {.min = kFifth, .max = k50Percent, .service = ServiceWish{ServiceClass::latency, 5ms}});
  ASSERT_TRUE(tenant) << refusal(tenant);
  EXPECT_EQ(tenant->attributes.min, kFifth);
  EXPECT_EQ(tenant->attributes.max, k50Percent);
  EXPECT_EQ(tenant->attributes.service, ServiceClass::latency);
  EXPECT_EQ(tenant->attributes.response, 5ms);
}

TEST(TenantPromises, WithoutAnAdministratorsWordProgramsGetNeitherGuaranteesNorTheLatencyClass) {
  TenantRegistry registry{TenantRules{}};
  EXPECT_EQ(refusal(registry.join("a", kProgram, {.min = kFifth})),
            "tenant 'a' may not have a guarantee of 20%: the administrator allows none (allow_min)");
  EXPECT_EQ(refusal(registry.join("a", kProgram, {.service = ServiceWish{ServiceClass::latency}})),
            "tenant 'a' may not be of the class latency: the administrator allows others (allow_class)");
  EXPECT_TRUE(registry.join("a", kProgram, {.max = k50Percent, .service = ServiceWish{ServiceClass::batch}}));
  EXPECT_TRUE(registry.join("root", kRoot, {.min = kFifth, .service = ServiceWish{ServiceClass::latency}}))
      << "an administrator may";
}

TEST(TenantPromises, ARefusedProgramLeavesNothingBehind) {
  TenantRegistry registry{TenantRules{}};
  EXPECT_FALSE(registry.join("a", kProgram, {.min = kFifth}));
  EXPECT_TRUE(registry.all().empty());
  const auto tenant = registry.join("a", kProgram, {.weight = 3});
  ASSERT_TRUE(tenant);
  EXPECT_FALSE(registry.join("a", kProgram, {.weight = 7, .min = kFifth}));
  EXPECT_EQ(registry.find(tenant->id)->attributes.weight, 3U);
  EXPECT_EQ(registry.find(tenant->id)->sessions, 1U);
}

TEST(TenantPromises, AGuaranteeThatDoesNotFitIsRefusedWithWhatWouldFit) {
  TenantRegistry registry(generous());
  ASSERT_TRUE(registry.join("a", kProgram, {.min = kHalfReserved}));
  ASSERT_TRUE(registry.join("b", kProgram, {.min = kFifth}));
  EXPECT_EQ(refusal(registry.join("c", kProgram, {.min = kFifth})),
            "tenant 'c' cannot have a guarantee of 20%: 15% is left of the 90% that may be promised "
            "(promise_limit)")
      << "5 % are the batch class's";
  ASSERT_TRUE(registry.join("c", kProgram, {.min = Reservation{15ms, 100ms}}));
  EXPECT_EQ(refusal(registry.join("d", kProgram, {.min = Reservation{1ms, 1s}})),
            "tenant 'd' cannot have a guarantee of 0.1%: nothing is left of the 90% that may be promised "
            "(promise_limit)");
}

TEST(TenantPromises, AGuaranteeEndsWithTheTenantsLastProgram) {
  TenantRegistry registry(generous());
  const auto first = registry.join("a", kProgram, {.min = kHalfReserved});
  ASSERT_TRUE(registry.join("a", kProgram, {}));
  registry.retire(first->id);
  EXPECT_FALSE(registry.join("b", kProgram, {.min = kHalfReserved})) << "the other one runs";
  registry.retire(first->id);
  EXPECT_TRUE(registry.join("b", kProgram, {.min = kHalfReserved}));
}

TEST(TenantPromises, AGuaranteeOfTheConfigurationCountsWhetherItsTenantRunsOrNot) {
  TenantRules rules = generous();
  rules.by_name["important"].min = kHalfReserved;
  TenantRegistry registry(rules);
  EXPECT_FALSE(registry.join("a", kProgram, {.min = kHalfReserved}));
  ASSERT_TRUE(registry.join("a", kProgram, {.min = kFifth}));
  const auto important = registry.join("important", kProgram, {});
  ASSERT_TRUE(important) << refusal(important);
  EXPECT_EQ(important->attributes.min, kHalfReserved);
  EXPECT_TRUE(registry.join("b", kProgram, {.min = Reservation{15ms, 100ms}})) << "it does not count twice";
}

TEST(TenantPromises, AProgramThatDoesNotFitMayBecomeBackground) {
  TenantRules rules = generous();
  rules.refuse_overbooked = false;
  TenantRegistry registry(rules);
  ASSERT_TRUE(registry.join("a", kProgram, {.min = kHalfReserved}));
  const auto background = registry.join("b", kProgram, {.min = kHalfReserved});
  ASSERT_TRUE(background) << refusal(background);
  EXPECT_TRUE(background->attributes.min.empty());
  EXPECT_EQ(background->attributes.service, ServiceClass::batch);
}

TEST(TenantPromises, AProgramMayAskForALowerCeilingAndForNoHigherOne) {
  TenantRules rules = generous();
  rules.by_name["a"].max = k50Percent;
  TenantRegistry registry(rules);
  EXPECT_EQ(registry.join("a", kProgram, {.max = sched::kWholeDevice})->attributes.max, k50Percent);
  EXPECT_EQ(registry.join("a", kProgram, {.max = Share{100'000}})->attributes.max, Share{100'000});
}

TEST(TenantPromises, AGuaranteeAboveTheCeilingIsRefused) {
  TenantRegistry registry(generous());
  EXPECT_EQ(refusal(registry.join("a", kProgram, {.min = kFifth, .max = Share{100'000}})),
            "tenant 'a' cannot have a guarantee of 20%: its ceiling is 10%");
}

TEST(TenantPromises, TheTenantsTableGoesBeforeWhatProgramsAskFor) {
  TenantRules rules = generous();
  rules.by_name["a"].min = kFifth;
  rules.by_name["a"].service = ServiceWish{ServiceClass::batch};
  TenantRegistry registry(rules);
  const auto tenant =
      registry.join("a", kProgram, {.min = kHalfReserved, .service = ServiceWish{ServiceClass::latency}});
  ASSERT_TRUE(tenant) << refusal(tenant);
  EXPECT_EQ(tenant->attributes.min, kFifth);
  EXPECT_EQ(tenant->attributes.service, ServiceClass::batch);
}

TEST(TenantPromises, TheClassesOfServiceNeedNoTable) {
  TenantRules rules;
  rules.by_name["notebook"].class_name = "latency";
  rules.classes["batch"] = {.weight = 2};  // a table of that name is what it says
  rules.by_name["night"].class_name = "batch";
  TenantRegistry registry(rules);
  EXPECT_EQ(registry.join("notebook", kProgram, {})->attributes.service, ServiceClass::latency);
  EXPECT_EQ(registry.join("night", kProgram, {})->attributes.service, ServiceClass::normal);
}

TEST(TenantPromises, WhatIsSetHoldsAllTogetherOrNotAtAll) {
  TenantRegistry registry(generous());
  const auto tenant = registry.join("a", kProgram, {});
  ASSERT_TRUE(registry.join("b", kProgram, {.min = kHalfReserved}));
  EXPECT_FALSE(registry.set("a", {.weight = 9, .min = Reservation{40ms, 50ms}}, 0, true));
  EXPECT_EQ(registry.find(tenant->id)->attributes, tenant->attributes);
  ASSERT_TRUE(registry.set("a", {.weight = 9, .min = kFifth}, 0, true));
  EXPECT_EQ(registry.find(tenant->id)->attributes.weight, 9U);
  EXPECT_EQ(registry.find(tenant->id)->attributes.min, kFifth);
}

TEST(TenantPromises, ItsOwnUserCanLowerACeilingThatAnAdministratorHasSetAndNotRaiseIt) {
  TenantRegistry registry(generous());
  ASSERT_TRUE(registry.join("a", kProgram, {}));
  ASSERT_TRUE(registry.set("a", {.max = k50Percent}, 0, true));
  EXPECT_EQ(refusal(registry.set("a", {.max = Share{600'000}}, kUser, false)),
            "tenant 'a' may not have a ceiling of 60%: the administrator allows 50%");
  const auto lower = registry.set("a", {.max = Share{300'000}}, kUser, false);
  ASSERT_TRUE(lower) << refusal(lower);
  EXPECT_EQ(lower->attributes.max, Share{300'000});
}

TEST(TenantPromises, NewRulesHoldForTenantsThatRun) {
  TenantRegistry registry(generous());
  const auto tenant = registry.join("a", kProgram, {});
  TenantRules rules = generous();
  rules.by_name["a"].max = k50Percent;
  registry.configure(rules);
  EXPECT_EQ(registry.find(tenant->id)->attributes.max, k50Percent);
}

TEST(UnkeptPromises, AreThoseOfTheConfigurationAndOfTenantsThatRun) {
  TenantRules rules = generous();
  rules.classes["gold"].min = kFifth;
  rules.by_name["b"].service = ServiceWish{ServiceClass::batch};
  rules.by_name["plain"].weight = 7;
  TenantRegistry registry(rules);
  const auto warning = [&](const char* policy) {
    return unkept_warning(policy, registry.promises()).value_or("");
  };
  EXPECT_EQ(warning("fifo"),
            "policy fifo does not keep what is promised to [class.gold] (min), b (class): policy fair does");
  EXPECT_EQ(warning("slaf"), "policy slaf does not keep what is promised to b (class): policy fair does");
  EXPECT_EQ(warning("fair"), "");
  EXPECT_EQ(warning("a later one"), "");
  ASSERT_TRUE(registry.join("a", kProgram, {.max = k50Percent}));
  EXPECT_EQ(warning("cap"),
            "policy cap does not keep what is promised to [class.gold] (min), b (class): policy fair does");
  EXPECT_EQ(warning("fifo"),
            "policy fifo does not keep what is promised to [class.gold] (min), a (max), b (class): policy "
            "fair does");
  ASSERT_TRUE(registry.join("c", kProgram, {.min = kFifth, .max = k50Percent}));
  EXPECT_EQ(warning("fifo"),
            "policy fifo does not keep what is promised to [class.gold] (min), a (max), b (class) and 1 "
            "more: policy fair does");
  EXPECT_EQ(unkept_warning("fifo", TenantRegistry{TenantRules{}}.promises()), std::nullopt);
}

}  // namespace
}  // namespace fairgv::daemon
