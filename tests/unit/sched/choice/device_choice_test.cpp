#include "sched/choice/device_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/unit/sched/three_tenants.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr Reservation kTwoFifths{40ms, 100ms};

TenantProfile weighing(std::uint32_t weight) {
  return {.attributes = {.weight = weight}};
}

DeviceChoice equal_devices(int count) {
  DeviceChoice choice;
  for (int i = 0; i < count; ++i) choice.add({.speed = 100, .memory = 8 * kGiB});
  return choice;
}

TEST(DeviceChoice, WithoutDevicesThereIsNoAnswer) {
  const auto answer = DeviceChoice().choose(kA, {});
  EXPECT_FALSE(answer.device);
  EXPECT_TRUE(answer.refused.empty());
}

TEST(DeviceChoice, AmongEqualsTheFirstIsChosen) {
  const auto answer = equal_devices(3).choose(kA, {});
  EXPECT_EQ(answer.device, 0U);
  EXPECT_EQ(answer.expected.share.units, FineShare::kWhole);
  EXPECT_EQ(answer.weight, 100 * FineShare::kWhole);
}

TEST(DeviceChoice, BandwidthDecidesBetweenEqualDevices) {
  DeviceChoice choice;
  choice.add({.speed = 100, .bandwidth = 10});
  choice.add({.speed = 100, .bandwidth = 20});
  EXPECT_EQ(choice.choose(kA, {}).device, 1U);
}

TEST(DeviceChoice, TheDeviceWithTheLargestShareIsChosen) {
  DeviceChoice choice = equal_devices(2);
  choice.place(0, kA, weighing(3));
  choice.place(1, kB, weighing(2));
  const auto answer = choice.choose(kC, weighing(2));
  EXPECT_EQ(answer.device, 1U);
  EXPECT_EQ(answer.expected.share.units, FineShare::kWhole / 2);
}

TEST(DeviceChoice, WhichDeviceIsBestDependsOnTheTenantsWeight) {
  DeviceChoice choice;
  choice.add({.speed = 10});
  choice.add({.speed = 100});
  choice.place(1, kA, weighing(20));
  EXPECT_EQ(choice.choose(kB, weighing(1)).device, 0U);    // 10 against 100 / 21
  EXPECT_EQ(choice.choose(kB, weighing(100)).device, 1U);  // 10 against 10'000 / 120
}

TEST(DeviceChoice, ADeviceWhoseTenantsIdleIsBetterThanItsWeightsSay) {
  DeviceChoice choice = equal_devices(2);
  choice.place(0, kA, weighing(10));
  choice.place(1, kB, weighing(1));
  EXPECT_EQ(choice.choose(kC, {}).device, 1U);
  choice.measured(0, kA, {.time = {50'000}});
  choice.measured(1, kB, {.time = kWholeDevice});
  const auto answer = choice.choose(kC, {});
  EXPECT_EQ(answer.device, 0U);
  EXPECT_NEAR(answer.expected.share.fraction(), 0.95, 1e-9);
  choice.measured(0, kA, {.time = kWholeDevice});
  EXPECT_EQ(choice.choose(kC, {}).device, 1U);
}

TEST(DeviceChoice, NewcomersThatNobodyHasMeasuredCountWhole) {
  DeviceChoice choice = equal_devices(2);
  choice.place(0, kA, {});
  EXPECT_EQ(choice.choose(kB, {}).device, 1U);
}

TEST(DeviceChoice, ANewcomersKnownUseCountsUntilItIsMeasured) {
  DeviceChoice choice = equal_devices(1);
  choice.place(0, kA, {.use = Share{100'000}});
  EXPECT_NEAR(choice.expected(0, kB, {}).share.fraction(), 0.9, 1e-9);
  choice.measured(0, kA, {.time = kWholeDevice});
  EXPECT_NEAR(choice.expected(0, kB, {}).share.fraction(), 0.5, 1e-9);
  choice.set_profile(kA, {.use = Share{200'000}});
  EXPECT_NEAR(choice.expected(0, kB, {}).share.fraction(), 0.8, 1e-9);
}

TEST(DeviceChoice, ATenantThatItsCeilingStopsIsContent) {
  DeviceChoice choice = equal_devices(1);
  choice.place(0, kA, {.attributes = {.max = {250'000}}});
  choice.measured(0, kA, {.time = {250'000}});
  EXPECT_NEAR(choice.expected(0, kB, {}).share.fraction(), 0.75, 1e-9);
}

TEST(DeviceChoice, ADeviceWithoutMemoryIsRefusedAndSaysHowMuchIsLeft) {
  DeviceChoice choice;
  choice.add({.speed = 100, .memory = 2 * kGiB});
  choice.add({.speed = 10, .memory = 8 * kGiB});
  choice.place(0, kA, {.memory = kGiB * 4 / 5});
  const TenantProfile wants{.memory = kGiB * 3 / 2};
  const auto answer = choice.choose(kB, wants);
  EXPECT_EQ(answer.device, 1U);
  ASSERT_EQ(answer.refused.size(), 1U);
  EXPECT_EQ(answer.refused[0].device, 0U);
  EXPECT_EQ(answer.refused[0].why(), "memory: 1.2 GiB of 2 GiB left");
}

TEST(DeviceChoice, MemoryThatIsHeldCountsIfItIsMoreThanExpected) {
  DeviceChoice choice = equal_devices(1);
  choice.place(0, kA, {.memory = kGiB});
  choice.measured(0, kA, {.memory = 5 * kGiB});
  EXPECT_EQ(choice.load(0).memory, 5 * kGiB);
  choice.measured(0, kA, {.memory = 0});
  EXPECT_EQ(choice.load(0).memory, kGiB);
}

TEST(DeviceChoice, MemoryOfOthersIsNotFree) {
  DeviceChoice choice = equal_devices(1);
  choice.set_elsewhere(0, 7 * kGiB);
  EXPECT_TRUE(choice.choose(kA, {.memory = kGiB}).device);
  EXPECT_FALSE(choice.choose(kA, {.memory = kGiB + 1}).device);
}

TEST(DeviceChoice, ATenantsOwnMemoryDoesNotStandInItsWay) {
  DeviceChoice choice = equal_devices(1);
  choice.place(0, kA, {.memory = 6 * kGiB});
  EXPECT_TRUE(choice.choose(kA, {.memory = 6 * kGiB}).device);
  EXPECT_FALSE(choice.choose(kB, {.memory = 6 * kGiB}).device);
}

TEST(DeviceChoice, UnknownMemoryIsNeverTooLittle) {
  DeviceChoice choice;
  choice.add({});
  EXPECT_EQ(choice.choose(kA, {.memory = 1000 * kGiB}).device, 0U);
}

TEST(DeviceChoice, AGuaranteeThatDoesNotFitIsRefused) {
  DeviceChoice choice = equal_devices(2);
  const TenantProfile wants{.attributes = {.min = kTwoFifths}};
  choice.place(0, kA, wants);
  choice.place(0, kB, wants);
  choice.place(1, kA, wants);
  const auto refusal = choice.refusal(0, kC, wants);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->why(), "guarantee: 10% of 90% left to promise");
  EXPECT_FALSE(choice.refusal(1, kC, wants));
  EXPECT_FALSE(choice.refusal(0, kA, wants));  // its own counts once
}

TEST(DeviceChoice, WhatIsPromisedElsewhereCannotBePromisedAgainAndCostsNoShare) {
  DeviceChoice choice = equal_devices(2);
  choice.set_promised_elsewhere(0, Share{600'000});
  EXPECT_EQ(choice.choose(kA, weighing(1)).device, 0U) << "it wants no promise";
  EXPECT_EQ(choice.choose(kA, weighing(1)).expected.share.units, FineShare::kWhole);
  const auto answer = choice.choose(kA, {.attributes = {.min = kTwoFifths}});
  EXPECT_EQ(answer.device, 1U);
  ASSERT_EQ(answer.refused.size(), 1U);
  EXPECT_EQ(answer.refused[0].why(), "guarantee: 30% of 90% left to promise");
  choice.set_promised_elsewhere(0, {});
  EXPECT_EQ(choice.choose(kA, {.attributes = {.min = kTwoFifths}}).device, 0U);
}

TEST(DeviceChoice, TheFloorOfTheBatchClassIsPromised) {
  DeviceChoice choice = equal_devices(1);
  choice.place(0, kA, {.attributes = {.min = kTwoFifths}});
  choice.place(0, kB, {.attributes = {.service = ServiceClass::batch}});
  const auto refusal = choice.refusal(0, kC, {.attributes = {.min = {500ms, 1s}}});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->why(), "guarantee: 45% of 90% left to promise");
}

TEST(DeviceChoice, WithoutADeviceEveryRefusalIsToldInOrder) {
  DeviceChoice choice = equal_devices(3);
  choice.place(0, kA, weighing(5));
  const auto answer = choice.choose(kB, {.memory = 9 * kGiB});
  EXPECT_FALSE(answer.device);
  ASSERT_EQ(answer.refused.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(answer.refused[i].device, i);
}

TEST(DeviceChoice, OnlyDevicesThatSuitAreChosenAndToldOf) {
  DeviceChoice choice;
  choice.add({.speed = 100, .memory = kGiB, .platform = 0, .type = 4});
  choice.add({.speed = 10, .platform = 0, .type = 2});
  choice.add({.speed = 50, .platform = 1, .type = 4});
  EXPECT_EQ(choice.choose(kA, {}).device, 0U);
  EXPECT_EQ(choice.choose(kA, {.types = 2}).device, 1U);
  EXPECT_EQ(choice.choose(kA, {.platform = 1}).device, 2U);
  EXPECT_EQ(choice.choose(kA, {.devices = {2, 1}}).device, 2U);
  EXPECT_FALSE(choice.choose(kA, {.types = 2, .platform = 1}).device);
  EXPECT_TRUE(choice.choose(kA, {.memory = 2 * kGiB, .devices = {1}}).refused.empty());
}

TEST(DeviceChoice, SessionsOfOneTenantSpread) {
  DeviceChoice choice = equal_devices(2);
  choice.place(0, kA, weighing(100));
  choice.place(1, kB, weighing(10));
  EXPECT_EQ(choice.choose(kA, weighing(100)).device, 1U);  // 100 / 110 against a half
  choice.place(1, kA, weighing(100));
  EXPECT_EQ(choice.load(0).weight, 100U);
  choice.place(0, kA, weighing(100));
  EXPECT_EQ(choice.load(0).weight, 100U);
  EXPECT_EQ(choice.load(0).sessions, 2U);
}

TEST(DeviceChoice, ALeavingTenantLeavesNothingBehind) {
  DeviceChoice choice = equal_devices(1);
  const DeviceLoad empty = choice.load(0);
  const TenantProfile tenant{.attributes = {.weight = 7, .min = kTwoFifths}, .memory = kGiB};
  choice.place(0, kA, tenant);
  choice.place(0, kA, tenant);
  choice.measured(0, kA, {.time = {10'000}, .memory = 3 * kGiB});
  choice.leave(0, kA);
  EXPECT_EQ(choice.load(0).weight, 7U);
  EXPECT_EQ(choice.devices_of(kA).size(), 1U);
  choice.leave(0, kA);
  EXPECT_EQ(choice.load(0), empty);
  EXPECT_TRUE(choice.devices_of(kA).empty());
  choice.leave(0, kA);
  EXPECT_EQ(choice.load(0), empty);
}

TEST(DeviceChoice, AnotherProfileHoldsOnAllDevicesOfTheTenant) {
  DeviceChoice choice = equal_devices(2);
  choice.place(0, kA, weighing(1));
  choice.place(1, kA, weighing(1));
  choice.set_profile(kA, weighing(4));
  EXPECT_EQ(choice.load(0).weight, 4U);
  EXPECT_EQ(choice.load(1).hungry_weight, 4U);
}

TEST(DeviceChoice, RefusesAnInvalidWeight) {
  DeviceChoice choice = equal_devices(1);
  EXPECT_THROW(choice.place(0, kA, weighing(0)), std::invalid_argument);
  EXPECT_EQ(choice.load(0), DeviceLoad{});
}

TEST(DeviceProfile, TheSpeedIsComputeUnitsTimesClockAndBounded) {
  EXPECT_EQ(speed_of(132, 1'980), 261'360U);
  EXPECT_EQ(speed_of(0, 1'980), 1U);
  EXPECT_EQ(speed_of(UINT64_MAX, UINT64_MAX), DeviceProfile::kMostSpeed);
}

}  // namespace
}  // namespace fairgv::sched
