// Oversold devices of a daemon: buying when a session comes, changes while it runs, the configuration, and a
// daemon that goes on. The workers are scripts.
#include "runtime/daemon/oversell/markets.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <cmath>

#include "runtime/daemon/adjustments.hpp"
#include "tests/unit/daemon/session_table_fixture.hpp"

namespace fairgv::daemon {
namespace {

struct MarketsTest : SessionTableTest {
  void SetUp() override {
    oversell(true);
    start({kReady});
    run_until([&] { return all_run(); });
  }
  void oversell(bool on, std::optional<double> ratio = {}) {
    DeviceRule& rule = house.config.devices.common;
    rule.policy = "cap";
    rule.oversell = on;
    rule.oversell_ratio = ratio;
    house.dispatch->set_rules(house.config.devices);
    house.markets.configure();
  }
  bool all_run() const {
    return std::all_of(table.all().begin(), table.all().end(),
                       [](const auto& entry) { return entry.second->stage == Session::Stage::running; });
  }
  TenantId id_of(const std::string& name) {
    for (const Tenant& each : house.tenancies.registry().all()) {
      if (each.name == name) return each.id;
    }
    return {};
  }
  /// The cap that the device's dispatcher has in force.
  sched::Share in_force(const std::string& name) {
    for (const auto& tenant : house.report().tenants) {
      if (tenant.tenant == name && !tenant.use.empty() && tenant.use[0].holding)
        return {
            static_cast<std::uint32_t>(std::llround(tenant.use[0].holding->cap * sched::Share::kWholePpm))};
    }
    return {};
  }
  /// The refusal of a session of this tenant, with this ceiling; empty: it runs.
  std::string join(const std::string& tenant, std::uint32_t percent, Socket& end) {
    session::TenantWish wish;
    wish.max = sched::Share{percent * 10'000};
    if (const auto begun = begin(tenant, ::getuid(), end, wish); !begun) return begun.error().message;
    run_until([&end] {
      pollfd readable{end.fd(), POLLIN, 0};
      return ::poll(&readable, 1, 0) == 1;
    });
    const auto packet = end.receive_text();
    const std::string answer = packet ? packet->text : "";
    const auto parsed = session::parse_hello_answer(answer);
    const auto* refused = parsed ? std::get_if<session::Refused>(&parsed.value()) : nullptr;
    return refused == nullptr ? "" : refused->reason;
  }
  Result<void> set_max(const std::string& tenant, std::uint32_t percent) {
    control::ControlRequest request;
    request.command = control::ControlRequest::Command::set;
    request.tenant = tenant;
    request.wish.max = sched::Share{percent * 10'000};
    if (auto done = adjustments.set(request, {0, true}, "somebody"); !done) return done.error();
    return {};
  }

  Adjustments adjustments{
      {*house.dispatch, house.tenancies, house.markets, house.devices.table(), house.log}};
  Socket alices, carols;
};

TEST_F(MarketsTest, ASessionBuysItsTenantsCeilingAndWhatIsNotForSaleIsRefusedInOneLine) {
  EXPECT_EQ(in_force("bob"), sched::kWholeDevice) << "of which nothing was said";
  ASSERT_TRUE(set_max("bob", 60));
  EXPECT_EQ(in_force("bob"), (sched::Share{600'000}));
  EXPECT_EQ(join("alice", 41, alices),
            "tenant 'alice' cannot have 41% of device 0: 40% of it is for sale now (max, --max, FAIRGV_MAX)");
  EXPECT_EQ(join("alice", 40, alices), "");
  EXPECT_EQ(in_force("alice"), (sched::Share{400'000}));
  EXPECT_EQ(join("carol", 1, carols),
            "tenant 'carol' cannot have 1% of device 0: nothing of it is for sale now; try again later");
  Socket second;
  EXPECT_EQ(join("alice", 40, second), "") << "it shares what its tenant has";
  Socket third;
  EXPECT_EQ(join("alice", 50, third),
            "tenant 'alice' cannot have 50% of device 0: it can have 40% (max, --max, FAIRGV_MAX)");
  EXPECT_EQ(in_force("alice"), (sched::Share{400'000}));
}

TEST_F(MarketsTest, WhatATenantHasIsForSaleAgainWhenItsLastSessionIsGone) {
  ASSERT_TRUE(set_max("bob", 60));
  ASSERT_EQ(join("alice", 40, alices), "");
  Socket second;
  ASSERT_EQ(join("alice", 40, second), "");
  run_until([&] { return all_run(); });
  alices.close();
  run_until([&] { return table.all().size() == 2; });
  EXPECT_EQ(house.markets.of(0)->for_sale(), sched::Share{});
  second.close();
  run_until([&] { return table.all().size() == 1; });
  EXPECT_EQ(house.markets.of(0)->for_sale(), (sched::Share{400'000}));
  EXPECT_EQ(join("carol", 40, carols), "");
}

TEST_F(MarketsTest, ACeilingThatIsRaisedBeyondWhatIsForSaleIsRefusedAndALowerOneIsSold) {
  ASSERT_TRUE(set_max("bob", 60));
  ASSERT_EQ(join("alice", 30, alices), "");
  const auto refused = set_max("bob", 80);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "tenant 'bob' cannot have 80% of device 0: it can have 70% (max, --max, FAIRGV_MAX)");
  EXPECT_EQ(house.markets.of(0)->bought(id_of("bob")), (sched::Share{600'000}));
  ASSERT_TRUE(set_max("bob", 70));
  ASSERT_TRUE(set_max("bob", 20));
  EXPECT_EQ(house.markets.of(0)->for_sale(), (sched::Share{500'000}));
}

TEST_F(MarketsTest, TenantsThatAreHereWhenOversellingBeginsShareByTheirCeilings) {
  oversell(false);
  EXPECT_EQ(house.markets.of(0), nullptr);
  ASSERT_EQ(join("alice", 60, alices), "");
  EXPECT_EQ(in_force("alice"), sched::Share{});
  oversell(true);
  EXPECT_EQ(in_force("bob"), (sched::Share{625'000})) << "100 of 160";
  EXPECT_EQ(in_force("alice"), (sched::Share{375'000}));
  EXPECT_EQ(house.markets.of(0)->bought(id_of("bob")), sched::kWholeDevice);
}

TEST_F(MarketsTest, ADeviceIsSoldSoManyTimesByAFixedRatio) {
  oversell(true, 2.0);
  EXPECT_EQ(in_force("bob"), (sched::Share{500'000}));
  EXPECT_EQ(join("alice", 100, alices), "");
  EXPECT_EQ(in_force("alice"), (sched::Share{500'000}));
  EXPECT_EQ(join("carol", 1, carols),
            "tenant 'carol' cannot have 1% of device 0: nothing of it is for sale now; try again later");
}

TEST_F(MarketsTest, AnotherPolicyGivesTenantsWhatTheyBoughtAndCapsComeBack) {
  oversell(true, 2.0);
  ASSERT_EQ(in_force("bob"), (sched::Share{500'000}));
  control::ControlRequest request;
  request.policy = "fair";
  ASSERT_TRUE(adjustments.set_policy(request, {0, true}, "root"));
  EXPECT_TRUE(house.markets.of(0)->is_resting());
  request.policy = "cap";
  ASSERT_TRUE(adjustments.set_policy(request, {0, true}, "root"));
  EXPECT_FALSE(house.markets.of(0)->is_resting());
  EXPECT_EQ(in_force("bob"), (sched::Share{500'000}));
}

TEST_F(MarketsTest, HoldingsAreRestoredByTheDaemonAfterThisOne) {
  ASSERT_TRUE(set_max("bob", 60));
  const TenantId bob = id_of("bob");
  const auto holdings = house.markets.holdings(bob);
  ASSERT_EQ(holdings, (std::vector<Holding>{{0, {600'000}, {600'000}}}));
  Markets next({house.config, *house.dispatch, house.tenancies.registry(), house.devices.table()});
  next.restore(*house.tenancies.registry().find(bob), {{0, {600'000}, {123'000}}, {7, {1}, {1}}});
  EXPECT_EQ(next.holdings(bob), (std::vector<Holding>{{0, {600'000}, {123'000}}}));
}

TEST_F(MarketsTest, NobodyIsWokenWhileNobodyHasBought) {
  EXPECT_TRUE(house.markets.deadline());
  oversell(false);
  EXPECT_FALSE(house.markets.deadline());
}

}  // namespace
}  // namespace fairgv::daemon
