// The memory of a session's objects, beside its grants: in steps, and under random calls with a printed seed.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "runtime/vgpu/memory/memory_account.hpp"
#include "runtime/wire/calls/memory.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::vgpu {
namespace {

using Kind = session::LedgerRequest::Kind;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kFirst = 0b01;
constexpr std::uint64_t kBoth = 0b11;

/// A daemon with two devices; the other tenants leave 100 MiB on each.
struct MemoryAccountTest : ::testing::Test {
  session::LedgerAnswer answer(const session::LedgerRequest& request) {
    ++questions;
    std::uint64_t most = 0;
    for (int device = 0; device < 2; ++device) {
      if (((request.devices >> device) & 1) != 0) most = std::max(most, granted[device]);
    }
    std::uint64_t change = request.bytes;
    if (request.kind == Kind::look) return {limit - most};
    if (request.kind == Kind::charge) {
      change = request.more <= limit - most    ? request.more
               : request.bytes <= limit - most ? request.bytes
                                               : 0;
    }
    for (int device = 0; device < 2; ++device) {
      if (((request.devices >> device) & 1) == 0) continue;
      if (request.kind == Kind::give_back) {
        EXPECT_LE(change, granted[device]);
        granted[device] -= change;
      } else {
        granted[device] += change;
      }
    }
    return {request.kind == Kind::charge ? change : 0};
  }

  std::uint64_t limit = 100 * kMiB;
  std::uint64_t granted[2] = {0, 0};
  int questions = 0;
  MemoryAccount account{2, [this](const session::LedgerRequest& request) { return answer(request); }};
};

// ---- a move of the session to another worker

TEST_F(MemoryAccountTest, MemoryThatIsWithheldStaysTheSessions) {
  EXPECT_EQ(account.reserve(kBoth, 1000, 0).value(), 1000);
  auto charge = account.charge(kBoth, 600, false);
  account.withhold(true);
  ASSERT_TRUE(account.give_back(kBoth, 400));
  charge.value()->release();
  EXPECT_EQ(granted[0], 1000);
  EXPECT_EQ(granted[1], 1000);
  EXPECT_EQ(account.left(0).value(), limit);
  account.withhold(false);
  EXPECT_EQ(granted[0], 0);
  EXPECT_EQ(granted[1], 0);
  EXPECT_EQ(account.left(0).value(), limit);
}

TEST_F(MemoryAccountTest, MemoryThatIsWithheldIsUsedBeforeMoreIsAskedFor) {
  EXPECT_EQ(account.reserve(kFirst, limit, 0).value(), limit);
  account.withhold(true);
  ASSERT_TRUE(account.give_back(kFirst, limit));
  EXPECT_EQ(account.reserve(kFirst, limit, 0).value(), limit) << "the daemon has nothing more";
  EXPECT_EQ(granted[0], limit);
  account.withhold(false);
  EXPECT_EQ(granted[0], limit);
  ASSERT_TRUE(account.give_back(kFirst, limit));
}

TEST_F(MemoryAccountTest, AnotherWorkersGrantsAreInherited) {
  const std::uint64_t first[] = {500, 0};
  ASSERT_TRUE(account.inherit(first, true));
  auto kept = account.charge(kFirst, 200, false);
  auto freed = account.charge(kFirst, 300, false);
  ASSERT_TRUE(kept.value() && freed.value());
  freed.value()->release();
  EXPECT_EQ(questions, 0) << "it is the other worker's still";
  const std::uint64_t last[] = {250, 100};
  ASSERT_TRUE(account.inherit(last, false));
  auto rest = account.charge(kFirst, 50, false);
  ASSERT_TRUE(rest.value());
  EXPECT_EQ(questions, 0);
  EXPECT_EQ(account.left(1).value(), limit + 100);
  granted[0] = 250;
  kept.value()->release();
  EXPECT_EQ(granted[0], 50) << "from now on it is given back";
}

TEST_F(MemoryAccountTest, GrantsBelowWhatIsChargedAreRefused) {
  const std::uint64_t first[] = {500, 0};
  ASSERT_TRUE(account.inherit(first, true));
  auto charge = account.charge(kFirst, 200, false);
  const std::uint64_t less[] = {100, 0};
  EXPECT_FALSE(account.inherit(less, false));
}

TEST_F(MemoryAccountTest, ReservedMemoryIsThereForObjects) {
  EXPECT_EQ(account.reserve(kFirst, 1000, 0).value(), 1000);
  auto charge = account.charge(kFirst, 1000, true);
  ASSERT_TRUE(charge && charge.value());
  EXPECT_EQ(questions, 1);
  EXPECT_EQ(granted[0], 1000);
}

TEST_F(MemoryAccountTest, MoreThanWasReservedBreaksTheProtocol) {
  EXPECT_EQ(account.reserve(kFirst, 1000, 0).value(), 1000);
  EXPECT_FALSE(account.charge(kFirst, 1001, true));
  EXPECT_FALSE(account.charge(kBoth, 1000, true)) << "on one of its devices nothing was reserved";
  EXPECT_FALSE(account.give_back(kFirst, 1001));
  EXPECT_FALSE(account.give_back(kFirst, 0));
  EXPECT_FALSE(account.give_back(0, 1));
  EXPECT_FALSE(account.reserve(0b100, 1, 0));
  EXPECT_FALSE(account.left(2));
}

TEST_F(MemoryAccountTest, AFrontEndThatNeverReservesIsChargedExactly) {
  auto charge = account.charge(kBoth, 60 * kMiB, true);
  ASSERT_TRUE(charge && charge.value());
  EXPECT_EQ(granted[1], 60 * kMiB);
  auto refused = account.charge(kFirst, 41 * kMiB, true);
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused.value());
  EXPECT_FALSE(charge.value()->release()) << "this front end would not know of headroom";
  EXPECT_EQ(granted[0], 0);
}

TEST_F(MemoryAccountTest, FreedMemoryIsKeptOnlyWhereTheFrontEndHearsOfIt) {
  ASSERT_TRUE(account.reserve(kFirst, 1000, kMiB));
  auto heard = std::move(account.charge(kFirst, 1000, true).value().value());
  auto unheard = std::move(account.charge(kFirst, 1000, false).value().value());
  EXPECT_TRUE(heard.release());
  EXPECT_EQ(granted[0], kMiB + 1000);
  EXPECT_FALSE(unheard.release());
  EXPECT_EQ(granted[0], kMiB);
  EXPECT_FALSE(heard.release()) << "only once";
}

TEST_F(MemoryAccountTest, LittleIsKept) {
  ASSERT_TRUE(account.reserve(kFirst, 50 * kMiB, 0));
  auto large = std::move(account.charge(kFirst, 50 * kMiB, true).value().value());
  EXPECT_FALSE(large.release());
  EXPECT_EQ(granted[0], 0) << "a front end without small objects keeps nothing";
  ASSERT_TRUE(account.reserve(kFirst, 0, 100 * kMiB));
  auto part = std::move(account.charge(kFirst, 99 * kMiB, true).value().value());
  EXPECT_FALSE(part.release());
  EXPECT_EQ(granted[0], kMiB);
}

TEST_F(MemoryAccountTest, TheMemoryThatIsLeftIncludesTheReserve) {
  ASSERT_TRUE(account.reserve(kFirst, 30 * kMiB, 0));
  EXPECT_EQ(account.left(0).value(), 100 * kMiB);
  const auto charge = account.charge(kFirst, 30 * kMiB, true);
  EXPECT_EQ(account.left(0).value(), 70 * kMiB);
  EXPECT_EQ(account.left(1).value(), 100 * kMiB);
}

TEST_F(MemoryAccountTest, ReleasedMemoryIsExpectedUntilItIsBack) {
  auto one = std::move(account.charge(kBoth, 10 * kMiB, false).value().value());
  auto other = std::move(account.charge(kFirst, kMiB, false).value().value());
  EXPECT_EQ(account.expected(kFirst), 0U);
  one.expect();
  one.expect();
  other.expect();
  EXPECT_EQ(account.expected(kFirst), 11 * kMiB);
  EXPECT_EQ(account.expected(kBoth), 10 * kMiB) << "on each of the devices";
  std::uint64_t came = 0;
  account.on_release([&](std::uint64_t devices, std::uint64_t bytes) {
    EXPECT_EQ(devices, kBoth);
    EXPECT_EQ(granted[1], 0U) << "told before the daemon has it back";
    came += bytes;
  });
  MemoryCharge moved = std::move(one);
  moved.release();
  EXPECT_EQ(came, 10 * kMiB);
  EXPECT_EQ(account.expected(kFirst), kMiB);
  account.on_release({});
  other.release();
  EXPECT_EQ(account.expected(kFirst), 0U);
}

TEST_F(MemoryAccountTest, TheLeastThatIsLeftOnSeveralDevicesCounts) {
  const auto charge = account.charge(0b10, 30 * kMiB, false);
  EXPECT_EQ(account.least_left(kFirst), 100 * kMiB);
  EXPECT_EQ(account.least_left(kBoth), 70 * kMiB);
}

TEST_F(MemoryAccountTest, SizesDoNotOverflow) {
  EXPECT_EQ(account.reserve(kFirst, ~std::uint64_t{0}, ~std::uint64_t{0}).value(), 0);
  EXPECT_EQ(account.reserve(kFirst, ~std::uint64_t{0}, 0).value(), 0);
  EXPECT_EQ(granted[0], 0);
}

/// Plays an honest front end and checks after each step that the granted memory is the objects' memory and
/// the front end's headroom.
TEST_F(MemoryAccountTest, UnderRandomCallsNothingIsLostAndNothingIsMade) {
  std::mt19937_64 random(harness::printed_seed());
  const auto up_to = [&](std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random);
  };
  struct Held {
    MemoryCharge charge;
    std::uint64_t devices, bytes;
  };
  std::vector<Held> held;
  session::Headroom headroom;  // as the front end knows it
  const auto on = [](std::uint64_t devices, int device) { return ((devices >> device) & 1) != 0; };
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t devices = 1 + up_to(2);
    const std::uint64_t bytes = 1 + up_to(up_to(1) == 0 ? 10'000 : 20 * kMiB);
    if (up_to(2) == 0 && !held.empty()) {
      const auto place = held.begin() + static_cast<std::ptrdiff_t>(up_to(held.size() - 1));
      if (place->charge.release()) {
        headroom.add(place->devices, place->bytes);
        ASSERT_LE(headroom.most(place->devices), wire::kMostHeadroom) << "step " << step;
      }
      held.erase(place);
    } else if (headroom.least(devices) >= bytes) {
      auto charge = account.charge(devices, bytes, up_to(3) != 0);
      ASSERT_TRUE(charge && charge.value()) << "step " << step;
      headroom.take(devices, bytes);
      held.push_back({std::move(*charge.value()), devices, bytes});
    } else if (up_to(9) == 0 && headroom.least(devices) != 0) {
      const std::uint64_t some = 1 + up_to(headroom.least(devices) - 1);
      ASSERT_TRUE(account.give_back(devices, some));
      headroom.take(devices, some);
    } else {
      const std::uint64_t missing = bytes - headroom.least(devices);
      auto charge = account.reserve(devices, missing, up_to(1) * kMiB);
      ASSERT_TRUE(charge);
      headroom.add(devices, charge.value());
      if (headroom.least(devices) < bytes) continue;
      auto made = account.charge(devices, bytes, true);
      ASSERT_TRUE(made && made.value());
      headroom.take(devices, bytes);
      held.push_back({std::move(*made.value()), devices, bytes});
    }
    for (int device = 0; device < 2; ++device) {
      std::uint64_t sum = headroom.least(std::uint64_t{1} << device);
      for (const Held& each : held) sum += on(each.devices, device) ? each.bytes : 0;
      ASSERT_EQ(sum, granted[device]) << "step " << step;
      ASSERT_LE(sum, limit);
    }
  }
}

}  // namespace
}  // namespace fairgv::vgpu
