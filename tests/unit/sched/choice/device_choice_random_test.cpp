// The bounds of sched/choice/device_choice.hpp on random tenants and devices, and its queue beside a plain
// search. Every bound here is a theorem; FAIRGV_TEST_SEED=<the printed number> repeats a failure.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "sched/choice/device_choice.hpp"
#include "tests/harness/sanitized.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::sched {
namespace {

constexpr double kRounding = 1e-6;
constexpr std::uint64_t kBytes = 1'000;

class DeviceChoiceRandom : public testing::Test {
 protected:
  DeviceChoiceRandom() : random_(harness::printed_seed()) {}

  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_() % (high - low + 1));
  }
  bool one_in(std::uint32_t n) { return between(1, n) == 1; }

  void add_device(DeviceChoice& choice) {
    choice.add({.speed = one_in(2) ? 100 : between(1, 1'000),
                .memory = one_in(4) ? 0 : kBytes * between(1, 20),
                .bandwidth = between(0, 1),
                .platform = between(0, 1),
                .type = std::uint64_t{1} << between(0, 2)});
  }
  TenantProfile any_profile(const DeviceChoice& choice) {
    TenantProfile profile;
    profile.attributes.weight = one_in(2) ? 1 : between(kMinWeight, one_in(2) ? 10 : kMaxWeight);
    if (one_in(4)) profile.attributes.min = {Duration(between(1, 400)), Duration(1'000)};
    if (one_in(4)) profile.attributes.max = {between(400'000, Share::kWholePpm)};
    if (one_in(5)) profile.attributes.service = ServiceClass::batch;
    profile.memory = between(0, 3 * kBytes);
    if (one_in(4)) profile.types = between(1, 7);
    if (one_in(4)) profile.platform = between(0, 1);
    if (one_in(4)) {
      const auto last = static_cast<std::uint32_t>(choice.size() - 1);
      profile.devices = {between(0, last), between(0, last)};
    }
    return profile;
  }

 private:
  std::mt19937_64 random_;
};

bool suits_by_hand(const DeviceChoice& choice, std::uint32_t device, const TenantProfile& profile) {
  const DeviceProfile& hardware = choice.profile(device);
  const auto& list = profile.devices;
  return (hardware.type & profile.types) != 0 &&
         profile.platform.value_or(hardware.platform) == hardware.platform &&
         (list.empty() || std::count(list.begin(), list.end(), device) > 0);
}

/// The best device by looking at all of them.
std::optional<std::uint32_t> best_by_hand(const DeviceChoice& choice, TenantId id,
                                          const TenantProfile& profile) {
  std::optional<std::uint32_t> best;
  for (std::uint32_t device = 0; device < choice.size(); ++device) {
    if (!suits_by_hand(choice, device, profile) || choice.refusal(device, id, profile)) continue;
    const auto rank = [&](std::uint32_t each) {
      return std::pair(choice.weight(each, id, profile.attributes), choice.profile(each).bandwidth);
    };
    if (!best || rank(device) > rank(*best)) best = device;
  }
  return best;
}

TEST_F(DeviceChoiceRandom, TheQueueFindsTheDeviceThatAPlainSearchFinds) {
  for (int round = 0; round < harness::rounds(60); ++round) {
    DeviceChoice choice;
    for (std::uint32_t i = between(1, 20); i > 0; --i) add_device(choice);
    const auto last = static_cast<std::uint32_t>(choice.size() - 1);
    for (int step = 0; step < 300; ++step) {
      const TenantId id{between(0, 30)};
      const TenantProfile profile = any_profile(choice);
      const auto answer = choice.choose(id, profile);
      ASSERT_EQ(answer.device, best_by_hand(choice, id, profile)) << "round " << round << ", step " << step;
      for (const DeviceRefusal& refusal : answer.refused) {
        ASSERT_TRUE(choice.refusal(refusal.device, id, profile));
        ASSERT_TRUE(suits_by_hand(choice, refusal.device, profile));
        if (answer.device) {
          ASSERT_GE(choice.weight(refusal.device, id, profile.attributes), answer.weight);
        }
      }
      if (answer.device && !one_in(3)) choice.place(*answer.device, id, profile);
      if (one_in(3)) choice.leave(between(0, last), TenantId{between(0, 30)});
      if (one_in(2)) {
        choice.measured(between(0, last), TenantId{between(0, 30)},
                        {{between(0, Share::kWholePpm)}, between(0, 2 * kBytes)});
      }
      if (one_in(20)) choice.set_profile(TenantId{between(0, 30)}, any_profile(choice));
      if (one_in(20)) choice.set_elsewhere(between(0, last), between(0, 5 * kBytes));
    }
  }
}

TEST_F(DeviceChoiceRandom, WhenAllHaveLeftTheLoadIsNothing) {
  DeviceChoice choice;
  for (int i = 0; i < 5; ++i) add_device(choice);
  for (int step = 0; step < 500; ++step) {
    const TenantId id{between(0, 20)};
    choice.place(between(0, 4), id, any_profile(choice));
    choice.measured(between(0, 4), id, {{between(0, Share::kWholePpm)}, between(0, kBytes)});
    if (one_in(5)) choice.set_profile(id, any_profile(choice));
  }
  for (std::uint32_t device = 0; device < 5; ++device) {
    for (std::uint32_t tenant = 0; tenant <= 20; ++tenant) {
      while (choice.load(device).sessions > 0) {
        const std::uint32_t before = choice.load(device).sessions;
        choice.leave(device, TenantId{tenant});
        if (choice.load(device).sessions == before) break;
      }
    }
    EXPECT_EQ(choice.load(device), DeviceLoad{});
  }
}

// (a) of the header.
TEST_F(DeviceChoiceRandom, OfEqualTenantsOnEqualDevicesNumbersDifferByAtMostOne) {
  for (int round = 0; round < harness::rounds(20); ++round) {
    DeviceChoice choice;
    const std::uint32_t devices = between(1, 30);
    for (std::uint32_t i = 0; i < devices; ++i) choice.add({.speed = 77});
    const TenantProfile profile{.attributes = {.weight = between(kMinWeight, kMaxWeight)}};
    for (std::uint32_t tenant = 0; tenant < 200; ++tenant) {
      choice.place(*choice.choose(TenantId{tenant}, profile).device, TenantId{tenant}, profile);
      std::uint32_t least = UINT32_MAX;
      std::uint32_t most = 0;
      for (std::uint32_t i = 0; i < devices; ++i) {
        least = std::min(least, choice.load(i).tenants);
        most = std::max(most, choice.load(i).tenants);
      }
      ASSERT_LE(most - least, 1U) << devices << " devices, " << tenant << " tenants";
    }
  }
}

// (b): at every choice, whoever has come and left before, beside tenants with guarantees.
TEST_F(DeviceChoiceRandom, ANewcomersWeightIsAtLeastItsFractionalPartByOneAndTheSpreadOfSpeeds) {
  for (int round = 0; round < harness::rounds(40); ++round) {
    DeviceChoice choice;
    const std::uint32_t devices = between(1, 20);
    const bool equal = one_in(2);
    for (std::uint32_t i = 0; i < devices; ++i) choice.add({.speed = equal ? 100 : between(1, 1'000)});
    for (std::uint32_t tenant = 0; tenant < 200; ++tenant) {
      TenantProfile profile{.attributes = {.weight = between(1, one_in(2) ? 5 : 500)}};
      if (!equal && one_in(10)) profile.attributes.min = {Duration(between(1, 200)), Duration(1'000)};
      const auto answer = choice.choose(TenantId{tenant}, profile);
      if (!answer.device) continue;
      if (profile.attributes.min.empty()) {
        double sum = 0;
        double largest = 0;
        double others = 0;
        for (std::uint32_t i = 0; i < devices; ++i) {
          const double speed = static_cast<double>(choice.profile(i).speed) *
                               (1 - static_cast<double>(choice.load(i).promised_ppm) * 1e-6);
          sum += speed;
          largest = std::max(largest, speed);
          others += static_cast<double>(choice.load(i).weight);
        }
        const double weight = profile.attributes.weight;
        const double fractional = std::min(largest, sum * weight / (others + weight));
        const double worth = static_cast<double>(answer.weight) / static_cast<double>(FineShare::kWhole);
        ASSERT_GE(worth, fractional / (1 + largest * devices / sum) - kRounding) << "round " << round;
        if (equal) {
          ASSERT_GE(worth, fractional / 2 - kRounding) << "round " << round;
        }
      }
      choice.place(*answer.device, TenantId{tenant}, profile);
      if (one_in(3)) choice.leave(between(0, devices - 1), TenantId{between(0, tenant)});
    }
  }
}

// (c)
TEST_F(DeviceChoiceRandom, NoDeviceHasMoreThanTheMeanAndTheLargestWeight) {
  for (int round = 0; round < harness::rounds(40); ++round) {
    DeviceChoice choice;
    const std::uint32_t devices = between(1, 20);
    for (std::uint32_t i = 0; i < devices; ++i) choice.add({.speed = 100});
    std::uint64_t sum = 0;
    std::uint64_t largest = 0;
    for (std::uint32_t tenant = 0; tenant < 150; ++tenant) {
      const TenantProfile profile{.attributes = {.weight = between(1, one_in(3) ? 200 : 5)}};
      choice.place(*choice.choose(TenantId{tenant}, profile).device, TenantId{tenant}, profile);
      sum += profile.attributes.weight;
      largest = std::max<std::uint64_t>(largest, profile.attributes.weight);
      for (std::uint32_t i = 0; i < devices; ++i) {
        ASSERT_LE(choice.load(i).weight * devices, sum + largest * devices) << "round " << round;
      }
    }
  }
}

TEST_F(DeviceChoiceRandom, TenThousandTenantsOnAHundredDevicesAreSpreadEvenly) {
  DeviceChoice choice;
  for (int i = 0; i < 100; ++i) choice.add({.speed = 100, .memory = kBytes * 128});
  const TenantProfile profile{.memory = kBytes};
  for (std::uint32_t tenant = 0; tenant < 10'000; ++tenant) {
    choice.place(*choice.choose(TenantId{tenant}, profile).device, TenantId{tenant}, profile);
  }
  for (std::uint32_t i = 0; i < 100; ++i) ASSERT_EQ(choice.load(i).tenants, 100U);
  // While tenants come and go, the best device is never far from the mean.
  std::vector<std::uint32_t> here(10'000);
  for (std::uint32_t tenant = 0; tenant < 10'000; ++tenant) here[tenant] = tenant;
  for (std::uint32_t tenant = 10'000; tenant < 30'000; ++tenant) {
    std::uint32_t& gone = here[between(0, 9'999)];
    choice.leave(choice.devices_of(TenantId{gone})[0], TenantId{gone});
    const auto answer = choice.choose(TenantId{tenant}, profile);
    ASSERT_LE(choice.load(*answer.device).tenants, 99U);
    choice.place(*answer.device, TenantId{tenant}, profile);
    gone = tenant;
  }
}

}  // namespace
}  // namespace fairgv::sched
