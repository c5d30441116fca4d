// The promises of all tenants: held back and released, the floor of the batch class, and the budgets that go
// to the next policy.
#include "sched/promises/promises.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr Time kDawn{1'000s};

TenantAttributes with_min(Duration budget, Duration period) {
  return {.min = {budget, period}};
}

TenantAttributes with_max(std::uint32_t ppm) {
  return {.max = {ppm}};
}

struct PromisesTest : testing::Test {
  Promises promises;

  /// A tenant that has just reached its ceiling; paced for `used`, less the 100 ms in hand.
  void exhaust(TenantId id, Duration used, Time now) { promises.used(id, used, now); }
};

TEST_F(PromisesTest, CallsAboutTenantsWithoutPromisesDoNothing) {
  promises.set(kA, {}, kDawn);
  EXPECT_TRUE(promises.wake(kA, kDawn, false));
  EXPECT_FALSE(promises.hold_back(kA, kDawn));
  EXPECT_FALSE(promises.is_held(kA));
  promises.used(kA, 1h, kDawn);
  promises.serve({kA, 1ms}, 1h);
  promises.had_alone(kA, 1h, kDawn);
  promises.block(kA);
  promises.remove(kA);
  EXPECT_EQ(promises.left(kA, kDawn), std::nullopt);
  EXPECT_FALSE(promises.has_ceiling(kA));
  EXPECT_FALSE(promises.has_guarantee(kA));
  EXPECT_TRUE(promises.may_forget(kA, kDawn));
  EXPECT_EQ(promises.due(kDawn), std::nullopt);
  EXPECT_EQ(promises.next_due(), std::nullopt);
  EXPECT_EQ(promises.next_release(), std::nullopt);
  EXPECT_EQ(promises.take_released(kDawn), std::nullopt);
  TenantBudget budget;
  promises.save(kA, budget);
  EXPECT_TRUE(budget.empty());
  promises.restore(kA, {.guaranteed_until = kDawn});
}

TEST_F(PromisesTest, OnlyAGuaranteeOrACeilingIsAPromise) {
  EXPECT_FALSE(Promises::any({}));
  EXPECT_FALSE(Promises::any({.weight = 7, .service = ServiceClass::batch}));
  EXPECT_TRUE(Promises::any(with_min(1ms, 10ms)));
  EXPECT_TRUE(Promises::any(with_max(999'999)));
}

TEST_F(PromisesTest, ATenantAtItsCeilingIsHeldBackUntilATenthIsFree) {
  promises.set(kA, with_max(100'000), kDawn);
  EXPECT_TRUE(promises.has_ceiling(kA));
  EXPECT_TRUE(promises.wake(kA, kDawn, false));
  EXPECT_EQ(promises.left(kA, kDawn), 10ms);
  EXPECT_FALSE(promises.hold_back(kA, kDawn));
  exhaust(kA, 20ms, kDawn + 20ms);  // began at dawn: paced until dawn + 100 ms
  EXPECT_FALSE(promises.is_held(kA)) << "until somebody asks";
  EXPECT_TRUE(promises.hold_back(kA, kDawn + 20ms));
  EXPECT_TRUE(promises.is_held(kA));
  EXPECT_TRUE(promises.hold_back(kA, kDawn + 20ms));
  EXPECT_FALSE(promises.wake(kA, kDawn + 20ms, false)) << "waking again changes nothing";
  EXPECT_EQ(promises.next_release(), kDawn + 110ms);
  EXPECT_EQ(promises.take_released(kDawn + 110ms - 1ns), std::nullopt);
  EXPECT_EQ(promises.take_released(kDawn + 110ms), kA);
  EXPECT_FALSE(promises.is_held(kA));
  EXPECT_EQ(promises.take_released(kDawn + 110ms), std::nullopt);
  EXPECT_EQ(promises.next_release(), std::nullopt);
}

TEST_F(PromisesTest, ABlockedTenantIsNotHeldBackButIsWhenItWakes) {
  promises.set(kA, with_max(100'000), kDawn);
  exhaust(kA, 20ms, kDawn);
  EXPECT_FALSE(promises.hold_back(kA, kDawn));
  EXPECT_FALSE(promises.wake(kA, kDawn, false));
  EXPECT_TRUE(promises.is_held(kA));
  promises.block(kA);
  EXPECT_FALSE(promises.is_held(kA));
  EXPECT_EQ(promises.next_release(), std::nullopt);
  EXPECT_FALSE(promises.wake(kA, kDawn + 1ms, true)) << "sleeping does not help";
}

TEST_F(PromisesTest, TenantsAreReleasedInTheOrderOfTheirMoments) {
  for (const TenantId id : {kA, kB, kC}) {
    promises.set(id, with_max(100'000), kDawn);
    promises.wake(id, kDawn, false);
  }
  exhaust(kA, 40ms, kDawn);
  exhaust(kB, 20ms, kDawn);
  exhaust(kC, 30ms, kDawn);
  for (const TenantId id : {kA, kB, kC}) EXPECT_TRUE(promises.hold_back(id, kDawn));
  EXPECT_EQ(promises.next_release(), kDawn + 90ms);
  EXPECT_EQ(promises.take_released(kDawn + 1s), kB);
  EXPECT_EQ(promises.take_released(kDawn + 1s), kC);
  EXPECT_EQ(promises.take_released(kDawn + 1s), kA);
}

TEST_F(PromisesTest, AChangedCeilingHoldsForATenantThatIsHeldBack) {
  promises.set(kA, with_max(100'000), kDawn);
  promises.wake(kA, kDawn, false);
  exhaust(kA, 60ms, kDawn);
  ASSERT_TRUE(promises.hold_back(kA, kDawn));
  promises.set(kA, with_max(50'000), kDawn);
  EXPECT_EQ(promises.take_released(kDawn), std::nullopt) << "it is held back anew";
  EXPECT_TRUE(promises.is_held(kA));
  EXPECT_GT(promises.next_release(), kDawn + 800ms);
  promises.set(kA, with_max(900'000), kDawn);
  EXPECT_EQ(promises.take_released(kDawn), std::nullopt) << "44 ms too much";
  EXPECT_LT(promises.next_release(), kDawn + 70ms);
}

TEST_F(PromisesTest, ATenantWhoseCeilingGoesAwayIsReleasedAtOnce) {
  promises.set(kA, {.min = {1ms, 10ms}, .max = {100'000}}, kDawn);
  promises.wake(kA, kDawn, false);
  exhaust(kA, 60ms, kDawn);
  ASSERT_TRUE(promises.hold_back(kA, kDawn));
  EXPECT_EQ(promises.due(kDawn), std::nullopt) << "it takes part in nothing";
  promises.set(kA, with_min(1ms, 10ms), kDawn);
  EXPECT_FALSE(promises.has_ceiling(kA));
  EXPECT_EQ(promises.take_released(kDawn), kA);
  EXPECT_EQ(promises.due(kDawn), (Promises::Due{kA, 1ms}));
}

TEST_F(PromisesTest, ATenantThatIsHeldBackAndLosesAllPromisesIsForgotten) {
  promises.set(kA, with_max(100'000), kDawn);
  promises.wake(kA, kDawn, false);
  exhaust(kA, 60ms, kDawn);
  ASSERT_TRUE(promises.hold_back(kA, kDawn));
  promises.set(kA, {}, kDawn);
  EXPECT_FALSE(promises.is_held(kA));
  EXPECT_EQ(promises.next_release(), std::nullopt);
  promises.set(kB, with_max(500'000), kDawn);  // in the same slot
  EXPECT_TRUE(promises.wake(kB, kDawn, false));
}

TEST_F(PromisesTest, ThousandsAreHeldBackAnewWhenAllTheirCeilingsChange) {
  constexpr std::uint32_t kMany = 20'000;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    promises.set(TenantId{i}, with_max(100'000), kDawn);
    promises.wake(TenantId{i}, kDawn, false);
    promises.used(TenantId{i}, 60ms, kDawn);
    ASSERT_TRUE(promises.hold_back(TenantId{i}, kDawn));
    promises.set(TenantId{i}, with_max(50'000), kDawn);
  }
  EXPECT_EQ(promises.take_released(kDawn), std::nullopt);
  EXPECT_TRUE(promises.is_held(TenantId{kMany - 1}));
}

TEST_F(PromisesTest, AGuaranteeIsDueServedAndDueAgain) {
  promises.set(kA, with_min(2ms, 10ms), kDawn);
  EXPECT_TRUE(promises.wake(kA, kDawn, false));
  EXPECT_EQ(promises.due(kDawn), (Promises::Due{kA, 2ms}));
  promises.serve(*promises.due(kDawn), 2ms);
  EXPECT_EQ(promises.due(kDawn + 9ms), std::nullopt);
  EXPECT_EQ(promises.next_due(), kDawn + 10ms);
  promises.used(kA, 1h, kDawn);
  EXPECT_EQ(promises.next_due(), kDawn + 10ms) << "use for other purposes does not count";
  promises.had_alone(kA, 100ms, kDawn + 50ms);
  EXPECT_EQ(promises.next_due(), kDawn + 50ms) << "the device alone does";
}

TEST_F(PromisesTest, AGuaranteeThatIsGivenToATenantWithWorkIsDueFromThenOn) {
  promises.set(kA, with_max(500'000), kDawn);
  promises.wake(kA, kDawn, false);
  promises.set(kA, {.min = {1ms, 10ms}, .max = {500'000}}, kDawn + 5ms);
  EXPECT_EQ(promises.due(kDawn + 5ms), (Promises::Due{kA, 1ms}));
  EXPECT_EQ(promises.left(kA, kDawn + 5ms), 50ms) << "its ceiling stays";
}

TEST_F(PromisesTest, AGuaranteeThatIsGivenToATenantThatIsHeldBackWaitsForItsRelease) {
  promises.set(kA, with_max(100'000), kDawn);
  promises.wake(kA, kDawn, false);
  exhaust(kA, 60ms, kDawn);
  ASSERT_TRUE(promises.hold_back(kA, kDawn));
  promises.set(kA, {.min = {1ms, 10ms}, .max = {100'000}}, kDawn);
  EXPECT_EQ(promises.due(kDawn), std::nullopt);
  EXPECT_EQ(promises.take_released(kDawn), std::nullopt);
  EXPECT_EQ(promises.due(kDawn), std::nullopt);
  const Time release = *promises.next_release();
  EXPECT_EQ(promises.take_released(release), kA);
  EXPECT_EQ(promises.due(release), (Promises::Due{kA, 1ms}));
}

TEST_F(PromisesTest, TheFloorIsDueWhileBatchTenantsWantTheDeviceBesideOthers) {
  EXPECT_EQ(promises.due(kDawn), std::nullopt);
  promises.batch_wants(true, kDawn);
  EXPECT_EQ(promises.due(kDawn), (Promises::Due{std::nullopt, 5ms}));
  promises.serve(*promises.due(kDawn), 5ms);
  EXPECT_EQ(promises.floor_until(), kDawn) << "it was behind by a period";
  promises.serve({std::nullopt, 5ms}, 5ms);
  EXPECT_EQ(promises.next_due(), kDawn + 100ms);
  promises.batch_wants(false, kDawn);
  EXPECT_EQ(promises.next_due(), std::nullopt);
  promises.batch_wants(true, kDawn);
  EXPECT_EQ(promises.next_due(), kDawn + 100ms) << "wanting it again refills nothing";
}

TEST_F(PromisesTest, TimeThatTheBatchClassHadAloneCountsForTheNextPeriodOfItsFloor) {
  promises.batch_wants(true, kDawn);
  promises.batch_had_alone(1ms, kDawn);
  EXPECT_EQ(promises.floor_until(), kDawn - 80ms);
  promises.batch_had_alone(1s, kDawn);
  EXPECT_EQ(promises.floor_until(), kDawn + 100ms) << "and not for more";
}

TEST_F(PromisesTest, ForgettingATenantMustRefillNothing) {
  promises.set(kA, {.min = {1ms, 10ms}, .max = {100'000}}, kDawn);
  EXPECT_TRUE(promises.may_forget(kA, kDawn));
  promises.serve({kA, 1ms}, 3ms);
  EXPECT_FALSE(promises.may_forget(kA, kDawn + 29ms));
  EXPECT_TRUE(promises.may_forget(kA, kDawn + 30ms));
  promises.used(kA, 5ms, kDawn + 30ms);
  EXPECT_FALSE(promises.may_forget(kA, kDawn + 1s));
  EXPECT_TRUE(promises.may_forget(kA, kDawn + 1'030ms));
}

TEST_F(PromisesTest, ABudgetGoesToTheNextObjectAndComesBackTheSame) {
  const TenantAttributes attributes{.min = {1ms, 10ms}, .max = {100'000}};
  promises.set(kA, attributes, kDawn);
  promises.serve({kA, 1ms}, 3ms);
  promises.used(kA, 5ms, kDawn);
  TenantBudget saved;
  promises.save(kA, saved);
  EXPECT_EQ(saved.guaranteed_until, kDawn + 30ms);
  EXPECT_EQ(saved.last_second.size(), 1U);
  Promises next;
  next.set(kA, attributes, kDawn);
  next.restore(kA, saved);
  TenantBudget again;
  next.save(kA, again);
  EXPECT_EQ(again, saved);
  EXPECT_EQ(next.left(kA, kDawn), promises.left(kA, kDawn));
  next.restore(kA, {});
  EXPECT_EQ(next.left(kA, kDawn), promises.left(kA, kDawn)) << "an empty budget changes nothing";
}

TEST_F(PromisesTest, TheFloorsDebtGoesToTheNextObjectTheLatestOfSeveral) {
  promises.restore_floor(kDawn + 5s);
  promises.restore_floor(kDawn + 1s);
  EXPECT_EQ(promises.floor_until(), kDawn + 5s);
}

TEST_F(PromisesTest, ARemovedTenantIsNeverReleasedOrDue) {
  for (const TenantId id : {kA, kB}) {
    promises.set(id, {.min = {1ms, 10ms}, .max = {100'000}}, kDawn);
    promises.wake(id, kDawn, false);
  }
  exhaust(kA, 60ms, kDawn);
  ASSERT_TRUE(promises.hold_back(kA, kDawn));
  promises.remove(kA);
  promises.remove(kB);
  promises.remove(kC);
  EXPECT_EQ(promises.due(kDawn), std::nullopt);
  EXPECT_EQ(promises.take_released(kDawn + 1h), std::nullopt);
  promises.set(kC, with_min(1ms, 10ms), kDawn);
  EXPECT_EQ(promises.due(kDawn), std::nullopt) << "another one in its slot sleeps";
}

}  // namespace
}  // namespace fairgv::sched
