// One oversold device: readings of the books become observations, and these move caps; by simulated time.
#include "runtime/daemon/oversell/market.hpp"

#include <gtest/gtest.h>

#include <map>

namespace fairgv::daemon {
namespace {

using namespace std::chrono_literals;
using sched::Share;
using sched::oversell::Monitor;

struct MarketTest : testing::Test {
  static constexpr TenantId kAlice{1};
  static constexpr TenantId kBob{2};

  static constexpr Share percent(double part) { return {static_cast<std::uint32_t>(part * 10'000)}; }

  /// What the tenants do in a second, and the look at its end.
  void second(const std::map<TenantId, std::pair<std::chrono::milliseconds, std::uint64_t>>& done,
              std::chrono::nanoseconds length = 1s) {
    now += length;
    std::vector<TenantReading> readings;
    for (const auto& [id, work] : done) {
      auto& total = totals[id];
      total.first += work.first;
      total.second += work.second;
      readings.push_back({id, total.first, total.second});
    }
    market.look(readings, now);
  }
  void seconds(int count,
               const std::map<TenantId, std::pair<std::chrono::milliseconds, std::uint64_t>>& done) {
    for (int i = 0; i < count; ++i) second(done);
  }
  /// The caps that take_caps() has told.
  void take() {
    for (const TenantCap& each : market.take_caps()) caps[each.id] = each.cap;
  }

  Market market{Market::Settings{}};
  Market::Time now{1'000s};
  std::map<TenantId, std::pair<std::chrono::nanoseconds, std::uint64_t>> totals;
  std::map<TenantId, std::optional<Share>> caps;
};

TEST_F(MarketTest, WhatATenantBuysIsItsCapAndWhatIsUnsoldIsForSale) {
  EXPECT_EQ(market.for_sale(), sched::kWholeDevice);
  ASSERT_TRUE(market.sell(kAlice, percent(60), 0));
  take();
  EXPECT_EQ(caps[kAlice], percent(60));
  EXPECT_EQ(market.for_sale(), percent(40));
  EXPECT_FALSE(market.sell(kBob, percent(41), 0));
  EXPECT_TRUE(market.sell(kBob, percent(40), 0));
  EXPECT_FALSE(market.sell(kBob, percent(1), 0)) << "it has bought already";
  market.remove(kAlice);
  EXPECT_EQ(market.for_sale(), percent(60));
}

TEST_F(MarketTest, TotalsBecomeWhatWasDoneInEachSecond) {
  ASSERT_TRUE(market.sell(kAlice, percent(50), 20));
  second({{kAlice, {777ms, 99}}});  // its past: nothing is known of the second in which it came
  EXPECT_EQ(market.load(kAlice)->used, Share{});
  second({{kAlice, {250ms, 12}}});
  EXPECT_EQ(market.load(kAlice)->used, percent(25));
  EXPECT_DOUBLE_EQ(market.load(kAlice)->utilisation, 0.5);
  EXPECT_DOUBLE_EQ(market.load(kAlice)->level, 12);
  EXPECT_DOUBLE_EQ(market.load(kAlice)->target, 20);
  EXPECT_DOUBLE_EQ(market.controller().total_load(), 0.25);
  EXPECT_EQ(market.broken_seconds(kAlice), 0u) << "it starts";
  second({{kAlice, {250ms, 20}}});
  EXPECT_EQ(market.broken_seconds(kAlice), 0u);
  second({{kAlice, {250ms, 12}}});
  EXPECT_EQ(market.broken_seconds(kAlice), 1u);
}

TEST_F(MarketTest, ALookThatComesLateSharesWhatItFindsAmongItsSeconds) {
  ASSERT_TRUE(market.sell(kAlice, percent(50), 0));
  second({{kAlice, {0ms, 0}}});
  second({{kAlice, {900ms, 30}}}, 3'020ms);
  EXPECT_EQ(market.load(kAlice)->used, percent(30));
  second({{kAlice, {300ms, 10}}}, 980ms);
  EXPECT_EQ(market.load(kAlice)->used, percent(30)) << "some milliseconds more or less are one second";
}

TEST_F(MarketTest, LooksAreDueAtTheBeginningsOfSeconds) {
  ASSERT_TRUE(market.sell(kAlice, percent(50), 0));
  now += 300ms;
  market.look({}, now);
  EXPECT_EQ(market.next_look(), Market::Time(1'001s));
  market.look({}, Market::Time(1'001s));
  EXPECT_EQ(market.next_look(), Market::Time(1'002s));
}

TEST_F(MarketTest, ATenantBelowItsTargetGetsWhatAnotherLeavesUnused) {
  ASSERT_TRUE(market.sell(kAlice, percent(100), 0));
  seconds(static_cast<int>(Monitor::kNewFor) + 1, {{kAlice, {100ms, 0}}});
  ASSERT_EQ(market.for_sale(), percent(88)) << "98 % less what it uses";
  ASSERT_TRUE(market.sell(kBob, percent(80), 50));
  take();
  EXPECT_EQ(caps[kAlice], percent(20));
  EXPECT_EQ(caps[kBob], percent(80));
  // bob is quiet, and alice wakes up: it gets some of its own back.
  seconds(static_cast<int>(Monitor::kNewFor) + 1, {{kAlice, {100ms, 0}}, {kBob, {200ms, 50}}});
  take();
  seconds(3, {{kAlice, {200ms, 0}}, {kBob, {200ms, 50}}});
  take();
  EXPECT_GT(caps[kAlice], percent(20));
  const Share given = *caps[kBob];
  EXPECT_LT(given, percent(80));
  // Now bob's frames are dear: below its target, it gets what it needs within a second or two.
  const auto changes = market.totals().changes;
  second({{kAlice, {200ms, 0}}, {kBob, {std::chrono::milliseconds(given.ppm / 1'000), 40}}});
  take();
  EXPECT_GT(caps[kBob], given);
  EXPECT_LE(caps[kBob], percent(80)) << "more was not bought";
  EXPECT_GT(market.totals().changes, changes);
  EXPECT_EQ(caps[kAlice]->ppm + caps[kBob]->ppm, Share::kWholePpm);
}

TEST_F(MarketTest, SeveralThatAreOverloadedAtOnceAreAWarning) {
  ASSERT_TRUE(market.sell(kAlice, percent(100), 0));
  seconds(static_cast<int>(Monitor::kNewFor) + 1, {{kAlice, {100ms, 0}}});
  ASSERT_TRUE(market.sell(kBob, percent(80), 50));
  ASSERT_TRUE(market.resize(kBob, percent(60)));
  market.take_over(TenantId{3}, percent(90), percent(20), 10);
  take();
  seconds(2, {{kAlice, {200ms, 0}}, {kBob, {600ms, 10}}, {TenantId{3}, {200ms, 1}}});
  seconds(3, {{kAlice, {200ms, 0}}, {kBob, {600ms, 10}}, {TenantId{3}, {200ms, 1}}});
  EXPECT_TRUE(market.report().warning);
  EXPECT_GT(market.totals().warnings, 0u);
}

TEST_F(MarketTest, RestsUnderAnotherPolicyAndGoesOnWhereItWas) {
  ASSERT_TRUE(market.sell(kAlice, percent(100), 0));
  seconds(static_cast<int>(Monitor::kNewFor) + 1, {{kAlice, {100ms, 0}}});
  ASSERT_TRUE(market.sell(kBob, percent(50), 50));
  take();
  const Share alices = *caps[kAlice];
  ASSERT_LT(alices, percent(100));
  market.set_resting(true);
  take();
  EXPECT_EQ(caps[kAlice], std::nullopt) << "its own ceiling holds";
  EXPECT_EQ(caps[kBob], std::nullopt);
  EXPECT_EQ(market.for_sale(), Share{}) << "nothing is known of what is used";
  EXPECT_EQ(market.bought(kBob), percent(50));
  seconds(20, {{kAlice, {900ms, 0}}, {kBob, {100ms, 1}}});
  EXPECT_TRUE(market.take_caps().empty());
  market.set_resting(false);
  take();
  EXPECT_EQ(caps[kAlice], alices);
  EXPECT_EQ(caps[kBob], percent(50));
}

TEST_F(MarketTest, TakesTenantsOverAsTheyWereAndNoMoreThanThereIs) {
  market.take_over(kAlice, percent(100), percent(30), 25);
  market.take_over(kBob, percent(80), percent(80), 0);
  take();
  EXPECT_EQ(caps[kAlice], percent(30));
  EXPECT_EQ(market.bought(kAlice), percent(100));
  EXPECT_DOUBLE_EQ(market.load(kAlice)->target, 25);
  EXPECT_EQ(caps[kBob], percent(70)) << "so much was free";
  EXPECT_EQ(market.for_sale(), Share{});
}

TEST_F(MarketTest, OfAFixedRatioSellsTheDeviceSoManyTimesAndNeverMovesACap) {
  market = Market({.fixed_ratio = sched::oversell::StaticOversubscription{2}});
  ASSERT_TRUE(market.sell(kAlice, percent(100), 50));
  ASSERT_TRUE(market.sell(kBob, percent(80), 0));
  EXPECT_EQ(market.cap(kAlice), percent(50));
  EXPECT_EQ(market.cap(kBob), percent(40));
  EXPECT_EQ(market.for_sale(), percent(20));
  (void)market.take_caps();
  for (int i = 1; i < 20; ++i) {
    const std::chrono::milliseconds used(500 * i);
    market.look({{kAlice, used, 0}}, Market::Time(1'000s + i * 1s));
  }
  EXPECT_TRUE(market.take_caps().empty());
  EXPECT_EQ(market.broken_seconds(kAlice), 20 - sched::oversell::Monitor::kNewFor);
  EXPECT_FALSE(market.report().warning);
}

}  // namespace
}  // namespace fairgv::daemon
