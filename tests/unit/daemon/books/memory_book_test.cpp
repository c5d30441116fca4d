// Limits and reserves as configuration, programs and administrators set them, and the requests of workers.
#include <gtest/gtest.h>

#include "runtime/daemon/books/memory_book.hpp"
#include "runtime/session/ledger_protocol.hpp"
#include "tests/unit/daemon/tenants/users.hpp"

namespace fairgv::daemon {
namespace {

using session::LedgerAnswer;
using session::LedgerRequest;
using Kind = LedgerRequest::Kind;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kDevice = 1024 * kMiB;
constexpr bool kPlainUser = false;

struct Memory : ::testing::Test {
  Memory() { book.set_devices({{"p", "d", 4, kDevice}}); }

  std::uint64_t limit(const std::string& tenant) {
    book.refresh(devices, tenants);
    return book.limits(tenant)[0];
  }
  LedgerAnswer charge(SessionId session, std::uint64_t bytes, std::uint64_t more) {
    const auto packet =
        book.take(session, DeviceView::first(2), to_packet(LedgerRequest{Kind::charge, 1, bytes, more}));
    EXPECT_TRUE(packet && packet.value());
    return session::parse_ledger_answer(*packet.value()).value();
  }

  DeviceRules devices;
  TenantRules rules;
  TenantRegistry tenants{{}};
  MemoryBook book;
};

TEST_F(Memory, IsAddedUpOverTime) {
  using namespace std::chrono_literals;
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}));
  EXPECT_EQ(limit("a"), kDevice);
  const SessionId session{1};
  const MemoryBook::Time start(1'000s);
  book.begin(session, "a");
  EXPECT_EQ(charge(session, 2 * kMiB, 2 * kMiB).bytes, 2 * kMiB);
  book.account("a", start);
  EXPECT_EQ(charge(session, kMiB, kMiB).bytes, kMiB);
  book.account("a", start + 10s);
  EXPECT_DOUBLE_EQ(book.totals("a", start + 11s)[0].byte_seconds, 23.0 * kMiB);
  book.end(session);
  book.account("a", start + 20s);
  EXPECT_DOUBLE_EQ(book.totals("a", start + 99s)[0].byte_seconds, 50.0 * kMiB);
  EXPECT_EQ(book.totals("b", start)[0].byte_seconds, 0.0);
}

TEST_F(Memory, RefusalsAreCountedForTheTenant) {
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}, MemorySize{8 * kMiB}));
  EXPECT_EQ(limit("a"), 8 * kMiB);
  book.begin(SessionId{1}, "a");
  EXPECT_EQ(charge(SessionId{1}, 7 * kMiB, 9 * kMiB).bytes, 7 * kMiB) << "less than asked for is no refusal";
  EXPECT_EQ(charge(SessionId{1}, 2 * kMiB, 2 * kMiB).bytes, 0u);
  EXPECT_EQ(book.totals("a", {})[0].refusals, 1u);
  book.end(SessionId{1});
  EXPECT_EQ(book.totals("a", {})[0].refusals, 1u);
}

TEST_F(Memory, OfOneDeviceUnderTwoNamesIsOne) {
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}, MemorySize{8 * kMiB}));
  EXPECT_EQ(limit("a"), 8 * kMiB);
  const SessionId session{1};
  book.begin(session, "a");
  const DeviceView both({0, 0});
  const auto ask = [&](Kind kind, std::uint64_t set, std::uint64_t bytes) {
    const auto packet = book.take(session, both, to_packet(LedgerRequest{kind, set, bytes, bytes}));
    EXPECT_TRUE(packet) << packet.error().message;
    return packet && packet.value() ? session::parse_ledger_answer(*packet.value())->bytes : 0;
  };
  EXPECT_EQ(ask(Kind::charge, 0b01, 3 * kMiB), 3 * kMiB);
  EXPECT_EQ(ask(Kind::charge, 0b10, 3 * kMiB), 3 * kMiB);
  EXPECT_EQ(ask(Kind::look, 0b10, 0), 2 * kMiB);
  EXPECT_EQ(ask(Kind::charge, 0b11, 2 * kMiB), 0u) << "on both it counts twice, and is granted on none";
  EXPECT_EQ(ask(Kind::charge, 0b11, kMiB), kMiB);
  EXPECT_EQ(ask(Kind::look, 0b01, 0), 0u);
  ask(Kind::give_back, 0b11, kMiB);
  ask(Kind::give_back, 0b10, 3 * kMiB);
  EXPECT_EQ(ask(Kind::look, 0b01, 0), 5 * kMiB);
}

TEST_F(Memory, OfWhomNothingIsSaidIsTheWholeDevice) {
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}));
  EXPECT_EQ(limit("a"), kDevice);
}

TEST_F(Memory, IsLimitedByDefaultAndByRule) {
  rules.default_memory = MemorySize{0, 25};
  rules.by_name["b"].memory = MemorySize{300 * kMiB};
  tenants.configure(rules);
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}));
  EXPECT_EQ(limit("a"), kDevice / 4);
  EXPECT_EQ(limit("b"), 300 * kMiB);
}

TEST_F(Memory, ThatProgramsAskForCanOnlyBeLess) {
  rules.default_memory = MemorySize{200 * kMiB};
  tenants.configure(rules);
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}, MemorySize{0, 10}));
  EXPECT_EQ(limit("a"), kDevice / 10);
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}, MemorySize{900 * kMiB}));
  EXPECT_EQ(limit("a"), 200 * kMiB);
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}));
  EXPECT_EQ(limit("a"), 200 * kMiB);
}

TEST_F(Memory, ThatWasAskedForIsForgottenWithTheLastSession) {
  const auto tenant = tenants.join("a", {kAlice}, {}, MemorySize{kMiB});
  EXPECT_EQ(limit("a"), kMiB);
  tenants.retire(tenant->id);
  tenants.leave(tenant->id);
  EXPECT_EQ(limit("a"), kDevice);
}

TEST_F(Memory, IsWhatTheAdministratorSets) {
  rules.default_memory = MemorySize{200 * kMiB};
  tenants.configure(rules);
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}, MemorySize{kMiB}));
  ASSERT_TRUE(tenants.set_memory("a", MemorySize{0, 50}, 0, kAdministrator, book.capacities()));
  EXPECT_EQ(limit("a"), kDevice / 2) << "beyond the configuration, and beyond what its program asked for";
}

TEST_F(Memory, CanBeLoweredByTheTenantsOwnUserOnly) {
  rules.default_memory = MemorySize{200 * kMiB};
  tenants.configure(rules);
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}));
  ASSERT_TRUE(tenants.set_memory("a", MemorySize{50 * kMiB}, kAlice, kPlainUser, book.capacities()));
  EXPECT_EQ(limit("a"), 50 * kMiB);
  const auto more = tenants.set_memory("a", MemorySize{0, 99}, kAlice, kPlainUser, book.capacities());
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().message.find("the administrator allows 200.0 MiB"), std::string::npos)
      << more.error().message;
  EXPECT_FALSE(tenants.set_memory("a", MemorySize{1}, kBob, kPlainUser, book.capacities()));
  EXPECT_FALSE(tenants.set_memory("nobody", MemorySize{1}, 0, kAdministrator, book.capacities()));
  EXPECT_EQ(limit("a"), 50 * kMiB);
}

TEST_F(Memory, ThatTheAdministratorHasSetCanBeLoweredToo) {
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}));
  ASSERT_TRUE(tenants.set_memory("a", MemorySize{100 * kMiB}, 0, kAdministrator, book.capacities()));
  EXPECT_FALSE(tenants.set_memory("a", MemorySize{101 * kMiB}, kAlice, kPlainUser, book.capacities()));
  ASSERT_TRUE(tenants.set_memory("a", MemorySize{99 * kMiB}, kAlice, kPlainUser, book.capacities()));
  EXPECT_EQ(limit("a"), 99 * kMiB);
}

TEST_F(Memory, OfADeviceIsNoMoreThanItHas) {
  devices.common.memory = MemorySize{600 * kMiB};
  EXPECT_EQ(limit("a"), 600 * kMiB);
  devices.common.memory = MemorySize{0, 50};
  EXPECT_EQ(limit("a"), kDevice / 2);
  devices.common.memory = MemorySize{2 * kDevice};
  EXPECT_EQ(limit("a"), kDevice);
}

TEST_F(Memory, OfADeviceThatDoesNotTellIsWhatTheConfigurationSays) {
  book.set_devices({{"p", "d", 4}});
  EXPECT_EQ(limit("a"), memquota::kUnlimited);
  devices.common.memory = MemorySize{600 * kMiB};
  EXPECT_EQ(limit("a"), 600 * kMiB);
}

TEST_F(Memory, IsGrantedWithTheHeadroomOrElseWithout) {
  rules.default_memory = MemorySize{100};
  tenants.configure(rules);
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}));
  book.refresh(devices, tenants);
  book.begin(SessionId{1}, "a");
  EXPECT_EQ(charge(SessionId{1}, 10, 60).bytes, 60);
  EXPECT_EQ(charge(SessionId{1}, 10, 60).bytes, 10);
  const LedgerAnswer refused = charge(SessionId{1}, 31, 60);
  EXPECT_EQ(refused.bytes, 0);
  EXPECT_EQ(refused.refusal, LedgerAnswer::Refusal::limit);
  const auto left =
      book.take(SessionId{1}, DeviceView::first(2), to_packet(LedgerRequest{Kind::look, 1, 0, 0}));
  EXPECT_EQ(session::parse_ledger_answer(*left.value())->bytes, 30);
  const auto back =
      book.take(SessionId{1}, DeviceView::first(2), to_packet(LedgerRequest{Kind::give_back, 1, 70, 0}));
  ASSERT_TRUE(back);
  EXPECT_FALSE(back.value()) << "nobody waits for an answer";
  EXPECT_FALSE(
      book.take(SessionId{1}, DeviceView::first(2), to_packet(LedgerRequest{Kind::give_back, 1, 1, 0})));
  EXPECT_EQ(book.ledger().charged(0), 0);
}

TEST_F(Memory, ReservesHoldFromTheStartAndUntilTheConfigurationChanges) {
  rules.by_name["later"].memory_reserve = MemorySize{0, 50};
  tenants.configure(rules);
  book.refresh(devices, tenants);
  book.begin(SessionId{1}, "a");
  EXPECT_EQ(charge(SessionId{1}, kDevice / 2 + 1, kDevice / 2 + 1).refusal,
            LedgerAnswer::Refusal::device_full);
  tenants.configure({});
  book.refresh(devices, tenants);
  EXPECT_EQ(charge(SessionId{1}, kDevice / 2 + 1, kDevice / 2 + 1).refusal, LedgerAnswer::Refusal::none);
}

TEST_F(Memory, ReservesBeyondTheDeviceAreDropped) {
  rules.by_name["b"].memory_reserve = MemorySize{2 * kDevice};
  rules.by_name["b"].memory = MemorySize{2 * kDevice};
  tenants.configure(rules);
  book.refresh(devices, tenants);
  book.begin(SessionId{1}, "a");
  EXPECT_EQ(charge(SessionId{1}, kDevice, kDevice).bytes, kDevice);
}

}  // namespace
}  // namespace fairgv::daemon
