// The memory of a session that moves: charged on its new device first, and given back where it was.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/daemon/books/memory_book.hpp"
#include "runtime/session/ledger_protocol.hpp"
#include "tests/unit/daemon/tenants/users.hpp"

namespace fairgv::daemon {
namespace {

using MovedBytes = std::vector<std::uint64_t>;
using session::LedgerRequest;

constexpr SessionId kMoves{1};

struct MemoryMove : ::testing::Test {
  MemoryMove() {
    book.set_devices({{"p", "a", 4, 1'000}, {"p", "b", 4, 500}});
    EXPECT_TRUE(tenants.join("a", {kAlice}, {}));
    book.refresh({}, tenants);
    book.begin(kMoves, "a");
  }

  /// On these of the worker's devices. Whether it was granted.
  bool charge(const DeviceView& view, std::uint64_t workers, std::uint64_t bytes) {
    const auto packet =
        book.take(kMoves, view, to_packet(LedgerRequest{LedgerRequest::Kind::charge, workers, bytes, bytes}));
    EXPECT_TRUE(packet && packet.value());
    return session::parse_ledger_answer(*packet.value())->bytes == bytes;
  }
  bool give_back(const DeviceView& view, std::uint64_t workers, std::uint64_t bytes) {
    return static_cast<bool>(
        book.take(kMoves, view, to_packet(LedgerRequest{LedgerRequest::Kind::give_back, workers, bytes, 0})));
  }

  TenantRegistry tenants{{}};
  MemoryBook book;
  const DeviceView two = DeviceView::first(2);
  const DeviceView same_twice{{0, 0}};
};

TEST_F(MemoryMove, ChargesBothDevicesUntilItIsDone) {
  ASSERT_TRUE(charge(two, 0b01, 300));
  const auto move = book.begin_move(kMoves, two, {{0, 1}});
  ASSERT_TRUE(move);
  EXPECT_EQ(move->holdings, MovedBytes({0, 300}));
  EXPECT_EQ(book.granted(kMoves), MovedBytes({300, 300}));
  EXPECT_EQ(book.holdings(kMoves), MovedBytes({300})) << "it has not moved yet";
  book.end_move(kMoves, move.value(), true);
  EXPECT_EQ(book.granted(kMoves), MovedBytes({0, 300}));
  EXPECT_EQ(book.holdings(kMoves), MovedBytes({0, 300}));
  EXPECT_TRUE(give_back(two, 0b10, 300));
  EXPECT_FALSE(give_back(two, 0b01, 1));
}

TEST_F(MemoryMove, ThatFailsLeavesEverythingAsItWas) {
  ASSERT_TRUE(charge(two, 0b11, 200));
  const auto move = book.begin_move(kMoves, two, {{0, 1}});
  ASSERT_TRUE(move);
  EXPECT_EQ(move->holdings, MovedBytes({0, 400}));
  EXPECT_EQ(book.granted(kMoves), MovedBytes({200, 400}));
  book.end_move(kMoves, move.value(), false);
  EXPECT_EQ(book.granted(kMoves), MovedBytes({200, 200}));
  EXPECT_EQ(book.holdings(kMoves), MovedBytes({200, 200}));
}

TEST_F(MemoryMove, WithoutATargetChargesNothing) {
  ASSERT_TRUE(charge(two, 0b01, 300));
  const auto move = book.begin_move(kMoves, two, {});
  ASSERT_TRUE(move);
  EXPECT_EQ(move->holdings, MovedBytes({300, 0}));
  EXPECT_EQ(book.granted(kMoves), MovedBytes({300, 0}));
  book.end_move(kMoves, move.value(), true);
  EXPECT_EQ(book.granted(kMoves), MovedBytes({300, 0}));
}

TEST_F(MemoryMove, BetweenDevicesOfOneHardwareChargesNothingTwice) {
  ASSERT_TRUE(charge(same_twice, 0b01, 600));
  ASSERT_TRUE(charge(same_twice, 0b10, 100));
  const auto move = book.begin_move(kMoves, same_twice, {{0, 1}});
  ASSERT_TRUE(move) << move.error().message;
  EXPECT_EQ(move->holdings, MovedBytes({0, 700}));
  EXPECT_EQ(book.granted(kMoves), MovedBytes({700, 0}));
}

TEST_F(MemoryMove, ThatDoesNotFitSaysHowMuchIsMissing) {
  ASSERT_TRUE(charge(two, 0b01, 800));
  const auto move = book.begin_move(kMoves, two, {{0, 1}});
  ASSERT_FALSE(move);
  EXPECT_EQ(move.error().message,
            "it needs 800 B of device 1, and the device has 500 B more: 300 B are missing");
  EXPECT_EQ(book.granted(kMoves), MovedBytes({800, 0}));
}

TEST_F(MemoryMove, BeyondTheTenantsLimitSaysThatItIsTheTenants) {
  ASSERT_TRUE(tenants.join("a", {kAlice}, {}, MemorySize{400}));
  ASSERT_TRUE(charge(two, 0b01, 450)) << "before its limit was lowered";
  book.refresh({}, tenants);
  const auto move = book.begin_move(kMoves, two, {{0, 1}});
  ASSERT_FALSE(move);
  EXPECT_EQ(move.error().message,
            "it needs 450 B of device 1, and its tenant may have 400 B more: 50 B are missing");
}

TEST_F(MemoryMove, WhatIsGivenBackOfOtherDevicesOfOneHardwareAddsUp) {
  ASSERT_TRUE(charge(same_twice, 0b01, 60));
  ASSERT_TRUE(charge(same_twice, 0b10, 40));
  EXPECT_TRUE(give_back(same_twice, 0b10, 70));
  EXPECT_EQ(book.holdings(kMoves), MovedBytes({30, 0}));
  EXPECT_FALSE(give_back(same_twice, 0b01, 31));
}

TEST_F(MemoryMove, AnAdoptedSessionHoldsWhatItWasGranted) {
  book.end(kMoves);
  ASSERT_TRUE(book.adopt(kMoves, "a", {100, 0}, same_twice, {}));
  EXPECT_EQ(book.holdings(kMoves), MovedBytes({100, 0})) << "an older daemon did not say where";
  book.end(kMoves);
  ASSERT_TRUE(book.adopt(kMoves, "a", {100, 0}, same_twice, {30, 70}));
  EXPECT_EQ(book.holdings(kMoves), MovedBytes({30, 70}));
  book.end(kMoves);
  ASSERT_TRUE(book.adopt(kMoves, "a", {100, 0}, same_twice, {500, 70}));
  EXPECT_EQ(book.holdings(kMoves), MovedBytes({100, 0})) << "never more than it was granted";
}

}  // namespace
}  // namespace fairgv::daemon
