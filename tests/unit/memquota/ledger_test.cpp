// The ledger's rules, one by one.
#include <gtest/gtest.h>

#include "memquota/ledger.hpp"

namespace fairgv::memquota {
namespace {

constexpr std::uint64_t kLargest = kUnlimited;
constexpr SessionKey kFirst{1};
constexpr SessionKey kSecond{2};
constexpr SessionKey kThird{3};

/// The devices by index.
constexpr DeviceSet on(std::initializer_list<std::uint32_t> devices) {
  DeviceSet set = 0;
  for (const std::uint32_t device : devices) set |= DeviceSet{1} << device;
  return set;
}

/// One device of 1000 bytes; sessions 1 and 2 are a's, session 3 is b's.
struct OneDevice : testing::Test {
  OneDevice() {
    ledger.reset({1000});
    ledger.begin(kFirst, "a");
    ledger.begin(kSecond, "a");
    ledger.begin(kThird, "b");
  }
  std::optional<Refusal> charge(SessionKey session, std::uint64_t bytes) {
    return ledger.charge(session, on({0}), bytes);
  }
  static constexpr Refusal kOverLimit{0, Refusal::Rule::limit};
  static constexpr Refusal kFull{0, Refusal::Rule::device_full};

  Ledger ledger;
};

TEST_F(OneDevice, GrantsUpToTheLimitOfAllSessionsTogether) {
  ledger.allow("a", 0, {.limit = 100});
  EXPECT_EQ(charge(kFirst, 60), std::nullopt);
  EXPECT_EQ(charge(kSecond, 41), kOverLimit);
  EXPECT_EQ(charge(kSecond, 40), std::nullopt);
  EXPECT_EQ(charge(kFirst, 1), kOverLimit);
  EXPECT_EQ(charge(kFirst, 0), std::nullopt);
  EXPECT_EQ(ledger.charged("a", 0), 100);
  EXPECT_EQ(charge(kThird, 900), std::nullopt) << "another tenant's limit is its own";
}

TEST_F(OneDevice, GrantsTheWholeDeviceToTheFirstTenant) {
  ledger.allow("a", 0, {.limit = 800});
  ledger.allow("b", 0, {.limit = 800});
  EXPECT_EQ(charge(kFirst, 800), std::nullopt);
  EXPECT_EQ(ledger.left(kThird, 0), 200);
  EXPECT_EQ(charge(kThird, 201), kFull);
  EXPECT_EQ(charge(kThird, 200), std::nullopt);
}

TEST_F(OneDevice, KeepsReservesFreeOfOthers) {
  ledger.allow("b", 0, {.reserve = 300});
  EXPECT_EQ(charge(kFirst, 701), kFull);
  EXPECT_EQ(charge(kFirst, 700), std::nullopt);
  EXPECT_EQ(charge(kThird, 300), std::nullopt) << "the tenant's own reserve is free for it";
  EXPECT_EQ(charge(kThird, 1), kFull);
}

TEST_F(OneDevice, AReserveThatIsUsedIsKeptNoLonger) {
  ledger.allow("b", 0, {.reserve = 300});
  EXPECT_EQ(charge(kThird, 400), std::nullopt);
  EXPECT_EQ(charge(kFirst, 601), kFull);
  EXPECT_EQ(charge(kFirst, 600), std::nullopt);
}

TEST_F(OneDevice, TellsWhatIsKeptFromATenant) {
  ledger.allow("b", 0, {.reserve = 300});
  EXPECT_EQ(ledger.kept_from("a", 0), 300);
  EXPECT_EQ(ledger.kept_from("somebody who is not there", 0), 300);
  EXPECT_EQ(ledger.kept_from("b", 0), 0) << "its own reserve";
  EXPECT_EQ(charge(kThird, 100), std::nullopt);
  EXPECT_EQ(ledger.kept_from("a", 0), 200);
  ledger.allow("c", 0, {.reserve = 800});
  EXPECT_EQ(ledger.kept_from("a", 0), 0) << "reserves beyond the device do not hold";
}

TEST_F(OneDevice, KeepsTheReserveOfATenantWithoutSessions) {
  ledger.allow("later", 0, {.reserve = 250});
  EXPECT_EQ(charge(kFirst, 751), kFull);
  ledger.forget("later");
  EXPECT_EQ(charge(kFirst, 751), std::nullopt);
}

TEST_F(OneDevice, AReserveCountsUpToTheLimit) {
  ledger.allow("b", 0, {.limit = 100, .reserve = 300});
  EXPECT_EQ(ledger.reserved(0), 100);
  EXPECT_EQ(charge(kFirst, 901), kFull);
  EXPECT_EQ(charge(kFirst, 900), std::nullopt);
}

TEST_F(OneDevice, ReservesBeyondTheDeviceDoNotHold) {
  ledger.allow("a", 0, {.reserve = 600});
  ledger.allow("b", 0, {.reserve = 600});
  EXPECT_GT(ledger.reserved(0), ledger.capacity(0));
  EXPECT_EQ(charge(kFirst, 1000), std::nullopt);
}

TEST_F(OneDevice, ALimitBelowWhatIsHeldGrantsNothingAndTakesNothing) {
  EXPECT_EQ(charge(kFirst, 500), std::nullopt);
  ledger.allow("a", 0, {.limit = 200});
  EXPECT_EQ(charge(kFirst, 1), kOverLimit);
  EXPECT_EQ(ledger.charged("a", 0), 500);
  EXPECT_TRUE(ledger.give_back(kFirst, on({0}), 301));
  EXPECT_EQ(ledger.left(kFirst, 0), 1);
  EXPECT_EQ(charge(kFirst, 1), std::nullopt);
}

TEST_F(OneDevice, ACapacityBelowWhatIsHeldGrantsNothing) {
  EXPECT_EQ(charge(kFirst, 500), std::nullopt);
  ledger.set_capacity(0, 100);
  EXPECT_EQ(charge(kThird, 1), kFull);
  EXPECT_EQ(ledger.left(kThird, 0), 0);
}

TEST_F(OneDevice, GivesBackNoMoreThanTheSessionWasGranted) {
  EXPECT_EQ(charge(kFirst, 10), std::nullopt);
  EXPECT_EQ(charge(kSecond, 10), std::nullopt);
  EXPECT_FALSE(ledger.give_back(kFirst, on({0}), 11)) << "the rest is another session's";
  EXPECT_TRUE(ledger.give_back(kFirst, on({0}), 10));
  EXPECT_FALSE(ledger.give_back(kFirst, on({0}), 1));
  EXPECT_EQ(ledger.charged("a", 0), 10);
}

TEST_F(OneDevice, TheEndOfASessionReturnsAllOfItAndNothingElse) {
  EXPECT_EQ(charge(kFirst, 10), std::nullopt);
  EXPECT_EQ(charge(kSecond, 20), std::nullopt);
  ledger.end(kFirst);
  ledger.end(kFirst);
  EXPECT_EQ(ledger.charged("a", 0), 20);
  EXPECT_EQ(ledger.charged(0), 20);
  EXPECT_TRUE(charge(kFirst, 1)) << "it has ended";
  EXPECT_FALSE(ledger.give_back(kFirst, on({0}), 0));
}

TEST_F(OneDevice, NothingOverflows) {
  ledger.set_capacity(0, kLargest);
  EXPECT_EQ(charge(kFirst, kLargest - 1), std::nullopt);
  EXPECT_EQ(charge(kFirst, kLargest), kOverLimit);
  EXPECT_EQ(charge(kThird, kLargest), kFull);
  EXPECT_EQ(charge(kThird, 2), kFull);
  EXPECT_FALSE(ledger.give_back(kFirst, on({0}), kLargest));
  ledger.allow("a", 0, {.reserve = kLargest});
  ledger.allow("b", 0, {.reserve = kLargest});
  EXPECT_EQ(ledger.reserved(0), kLargest);
  EXPECT_EQ(charge(kThird, 1), kFull) << "a's reserve is kept";
  EXPECT_EQ(charge(kFirst, 1), kFull) << "and b's";
}

TEST_F(OneDevice, GrantsOfAnEarlierLedgerAreEnteredWhateverTheRulesSay) {
  ledger.allow("a", 0, {.limit = 10});
  EXPECT_TRUE(ledger.restore(kFirst, 0, 2000));
  EXPECT_EQ(ledger.charged(kFirst, 0), 2000);
  EXPECT_EQ(ledger.charged("a", 0), 2000);
  EXPECT_EQ(charge(kThird, 1), kFull);
  EXPECT_FALSE(ledger.restore(kThird, 0, kLargest)) << "more than can be counted";
  EXPECT_FALSE(ledger.restore(kThird, 1, 1)) << "there is no such device";
  EXPECT_FALSE(ledger.restore(SessionKey{9}, 0, 1)) << "nor such a session";
  ledger.end(kFirst);
  EXPECT_EQ(ledger.charged(0), 0);
}

TEST(Devices, AreChargedAllOrNone) {
  Ledger ledger;
  ledger.reset({1000, 50, 1000});
  ledger.begin(kFirst, "a");
  EXPECT_EQ(ledger.charge(kFirst, on({0, 1, 2}), 51), (Refusal{1, Refusal::Rule::device_full}));
  for (const std::uint32_t device : {0U, 1U, 2U}) EXPECT_EQ(ledger.charged(device), 0);
  EXPECT_EQ(ledger.charge(kFirst, on({0, 1, 2}), 50), std::nullopt);
  EXPECT_EQ(ledger.charge(kFirst, on({0, 2}), 50), std::nullopt);
  EXPECT_FALSE(ledger.give_back(kFirst, on({0, 1}), 51));
  EXPECT_EQ(ledger.charged(0), 100);
  EXPECT_TRUE(ledger.give_back(kFirst, on({0, 2}), 100));
  EXPECT_EQ(ledger.charged(0), 0);
  EXPECT_EQ(ledger.charged(1), 50);
}

TEST(Devices, ThatDoNotExistAreRefused) {
  Ledger ledger;
  ledger.reset({1000});
  ledger.begin(kFirst, "a");
  EXPECT_TRUE(ledger.charge(kFirst, on({0, 1}), 1));
  EXPECT_FALSE(ledger.give_back(kFirst, on({63}), 0));
  EXPECT_EQ(ledger.charged(0), 0);
}

TEST(Devices, ThatComeLaterLeaveTheOthersAsTheyWere) {
  Ledger ledger;
  ledger.reset({1000});
  ledger.allow("a", 0, {.limit = 100});
  ledger.begin(kFirst, "a");
  ASSERT_EQ(ledger.charge(kFirst, on({0}), 60), std::nullopt);
  ledger.add_device(500);
  EXPECT_EQ(ledger.devices(), 2U);
  EXPECT_EQ(ledger.charged(0), 60);
  EXPECT_EQ(ledger.left(kFirst, 0), 40);
  EXPECT_EQ(ledger.left(kFirst, 1), 500);
  EXPECT_EQ(ledger.charge(kFirst, on({1}), 500), std::nullopt);
  ledger.end(kFirst);
  EXPECT_EQ(ledger.charged(1), 0);
}

TEST(Devices, ThatAreOthersNowForgetEverything) {
  Ledger ledger;
  ledger.reset({1000});
  ledger.allow("a", 0, {.limit = 10});
  ledger.begin(kFirst, "a");
  ASSERT_EQ(ledger.charge(kFirst, on({0}), 10), std::nullopt);
  ledger.reset({500, 500});
  EXPECT_EQ(ledger.charged(0), 0);
  EXPECT_EQ(ledger.allowance("a", 1).limit, kUnlimited);
  ledger.end(kFirst);
  EXPECT_EQ(ledger.charged(0), 0);
}

}  // namespace
}  // namespace fairgv::memquota
