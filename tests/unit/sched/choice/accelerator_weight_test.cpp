#include "sched/choice/accelerator_weight.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "sched/choice/accelerator_queue.hpp"
#include "sched/choice/device_choice.hpp"
#include "tests/harness/sanitized.hpp"
#include "tests/harness/seed.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr Reservation kFifth{20ms, 100ms};

double share_of(const DeviceLoad& others, const TenantAttributes& attributes) {
  return expected_share(others, attributes).share.fraction();
}

TEST(AcceleratorWeight, AnEmptyDeviceIsWorthAllOfIt) {
  EXPECT_EQ(expected_share({}, {.weight = 3}).share.units, FineShare::kWhole);
  EXPECT_EQ(expected_share({}, {.min = kFifth}).share.units, FineShare::kWhole);
}

TEST(AcceleratorWeight, HungryTenantsShareByWeight) {
  const DeviceLoad others{.weight = 6, .hungry_weight = 6};
  EXPECT_EQ(expected_share(others, {.weight = 2}).share.units, FineShare::kWhole / 4);
}

TEST(AcceleratorWeight, AGuaranteeComesBeforeWhatWeightsShare) {
  const DeviceLoad others{.promised_ppm = 300'000, .weight = 1, .hungry_weight = 1, .kept_ppm = 300'000};
  EXPECT_NEAR(share_of(others, {}), 0.35, 1e-9);
  EXPECT_NEAR(share_of(others, {.min = kFifth}), 0.2 + 0.5 * 0.5, 1e-9);
}

TEST(AcceleratorWeight, TheCeilingIsTheMost) {
  EXPECT_NEAR(share_of({}, {.max = {150'000}}), 0.15, 1e-9);
}

TEST(AcceleratorWeight, IdleTenantsLeaveWhatTheyDoNotUse) {
  const DeviceLoad idle{.weight = 9, .kept_ppm = 100'000};
  const ExpectedShare expected = expected_share(idle, {});
  EXPECT_NEAR(expected.entitled.fraction(), 0.1, 1e-9);
  EXPECT_NEAR(expected.share.fraction(), 0.9, 1e-9);
  const DeviceLoad one_hungry{.weight = 10, .hungry_weight = 1, .kept_ppm = 100'000};
  EXPECT_NEAR(share_of(one_hungry, {}), 0.45, 1e-9);
}

TEST(AcceleratorWeight, BatchTenantsCountAsTheirFloor) {
  const DeviceLoad others{.batch_weight = 100};
  EXPECT_NEAR(share_of(others, {}), 0.95, 1e-9);
  EXPECT_NEAR(share_of({.weight = 1, .batch_weight = 100, .hungry_weight = 1}, {}), 0.475, 1e-9);
}

TEST(AcceleratorWeight, ABatchTenantHasPartOfTheFloorBesideHungryTenantsAndOfTheRestBesideContentOnes) {
  const TenantAttributes batch{.service = ServiceClass::batch};
  EXPECT_NEAR(share_of({.weight = 5, .batch_weight = 4, .hungry_weight = 1}, batch), 0.01, 1e-9);
  EXPECT_NEAR(share_of({.weight = 5, .batch_weight = 4, .kept_ppm = 400'000}, batch), 0.12, 1e-9);
}

TEST(AcceleratorQueue, TheHighestWeightIsFirstThenBandwidthThenTheSmallestNumber) {
  AcceleratorQueue queue;
  queue.set({.weight = 5, .bandwidth = 1, .device = 0});
  queue.set({.weight = 5, .bandwidth = 1, .device = 1});
  queue.set({.weight = 5, .bandwidth = 2, .device = 2});
  queue.set({.weight = 4, .bandwidth = 9, .device = 3});
  queue.set({.weight = 6, .bandwidth = 0, .device = 4});
  const auto order = [&queue] {
    std::vector<std::uint32_t> devices;
    for (const auto& entry : queue.order()) devices.push_back(entry.device);
    return devices;
  };
  EXPECT_EQ(order(), (std::vector<std::uint32_t>{4, 2, 0, 1, 3}));
  queue.set({.weight = 3, .bandwidth = 0, .device = 4});
  EXPECT_EQ(order(), (std::vector<std::uint32_t>{2, 0, 1, 3, 4}));
}

struct Rival {
  double weight;
  double wants;
};

/// A newcomer's share by weighted max-min fairness: the level at which all is used, by bisection.
double max_min_share(const std::vector<Rival>& rivals, double weight) {
  double low = 0;
  double high = 1;
  for (int i = 0; i < 100; ++i) {
    const double level = (low + high) / 2;
    double used = weight * level;
    for (const Rival& rival : rivals) used += std::min(rival.wants, rival.weight * level);
    (used > 1 ? high : low) = level;
  }
  return std::min(1.0, weight * low);
}

// The theorem in the header.
TEST(AcceleratorWeightRandom, TheExpectedShareIsAtMostTheMaxMinShareAndAtLeastEightFifteenthsOfIt) {
  std::mt19937_64 random(harness::printed_seed());
  for (int round = 0; round < harness::rounds(4'000); ++round) {
    DeviceChoice choice;
    choice.add({});
    const std::uint32_t count = 1 + static_cast<std::uint32_t>(random() % 12);
    std::vector<std::uint32_t> weights;
    double all = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      weights.push_back(1 + static_cast<std::uint32_t>(random() % 100));
      all += weights.back();
      choice.place(0, TenantId{i}, {.attributes = {.weight = weights.back()}});
    }
    std::vector<Rival> rivals;
    for (std::uint32_t i = 0; i < count; ++i) {
      const double entitled = weights[i] / all;
      const bool content = random() % 3 != 0;
      const double part = content ? static_cast<double>(random() % 874) / 1'000 : 0.9;
      const auto ppm = static_cast<std::uint32_t>(entitled * part * 1e6);
      choice.measured(0, TenantId{i}, {.time = {ppm}});
      rivals.push_back({static_cast<double>(weights[i]), content ? ppm * 1e-6 : 1});
    }
    const std::uint32_t weight = 1 + static_cast<std::uint32_t>(random() % 100);
    const double share = choice.expected(0, TenantId{count}, {.weight = weight}).share.fraction();
    const double exact = max_min_share(rivals, weight);
    ASSERT_LE(share, exact + 1e-9) << "round " << round;
    ASSERT_GE(share, exact * 8 / 15 - 1e-9) << "round " << round;
  }
}

}  // namespace
}  // namespace fairgv::sched
