// Placements compared in the simulator: sum of shares and Min-Max Ratio, for few and for many tenants.
#include "sched/simulator/placement_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <stdexcept>

#include "tests/harness/sanitized.hpp"

namespace fairgv::sched {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;

struct Compared {
  PlacementOutcome first_fit, round_robin, best;
};

PlacementOutcome placed_by(PlacementSettings settings, Placement placement, const char* name) {
  settings.placement = placement;
  PlacementOutcome outcome = run_placement(settings);
  std::cout << settings.devices.size() << " devices, " << outcome.tenants.size() << " tenants, "
            << settings.policy << ", " << name << ": sum of shares " << outcome.sum_of_shares()
            << ", Min-Max Ratio " << outcome.min_max_ratio(settings) << ", refused " << outcome.refused()
            << std::endl;
  return outcome;
}

Compared compare(const PlacementSettings& settings) {
  return {placed_by(settings, Placement::first_fit, "first-fit"),
          placed_by(settings, Placement::round_robin, "round-robin"),
          placed_by(settings, Placement::best, "best")};
}

/// Ten tenants for each device, in turn one that needs little and one that always wants more; the memory of
/// a device is enough for 24. Round robin puts all that want more on every other device. They come one by
/// one, so that most of those before a newcomer have been measured.
PlacementSettings ten_for_each(std::uint32_t devices) {
  PlacementSettings settings;
  settings.devices.assign(devices, {.speed = 100, .memory = 24 * kGibibyte});
  const std::uint32_t half = devices * 5;
  const TenantSpec little{.kernel = 1ms, .sleep = 0.97, .burst = 5, .count = half};
  const TenantSpec more{.kernel = 1ms, .count = half, .arrives = 1s};
  settings.kinds = {{.spec = little, .memory = kGibibyte, .within = 2s * half},
                    {.spec = more, .memory = kGibibyte, .within = 2s * half}};
  settings.length = 2s * half + 20s;
  settings.measured_from = 2s * half + 5s;
  return settings;
}

TEST(PlacementRun, TheBestPlacementIsFairAndUsesAllDevicesWhereTheOthersDoNot) {
  const PlacementSettings settings = ten_for_each(4);
  const Compared compared = compare(settings);
  for (const auto* outcome : {&compared.first_fit, &compared.round_robin, &compared.best}) {
    EXPECT_EQ(outcome->refused(), 0U);
  }
  EXPECT_EQ(compared.first_fit.by_device, (std::vector<std::uint32_t>{24, 16, 0, 0}));
  EXPECT_LT(compared.first_fit.sum_of_shares(), 2.05);
  EXPECT_EQ(compared.round_robin.by_device, std::vector<std::uint32_t>(4, 10));
  EXPECT_LT(compared.round_robin.sum_of_shares(), 2.7);
  EXPECT_GT(compared.best.sum_of_shares(), 3.95);
  EXPECT_GT(compared.best.min_max_ratio(settings), 0.7);
  EXPECT_GT(compared.best.min_max_ratio(settings), compared.first_fit.min_max_ratio(settings));
}

TEST(PlacementRun, TheBestPlacementUsesAllDevicesUnderAPolicyThatKnowsNothingOfWeights) {
  PlacementSettings settings = ten_for_each(4);
  settings.policy = "round-robin";
  EXPECT_GT(placed_by(settings, Placement::best, "best").sum_of_shares(), 3.95);
}

// Tenants that need little gather on one device and fill its memory, so that few others find room there.
TEST(PlacementRun, ScarceMemoryCostsTheBestPlacementFairnessAndNotUse) {
  PlacementSettings settings = ten_for_each(4);
  for (DeviceProfile& device : settings.devices) device.memory = 16 * kGibibyte;
  const PlacementOutcome best = placed_by(settings, Placement::best, "best, scarce memory");
  EXPECT_EQ(best.refused(), 0U);
  EXPECT_GT(best.sum_of_shares(), 3.95);
  EXPECT_LT(best.min_max_ratio(settings), 0.7);
}

TEST(PlacementRun, TenThousandTenantsOnAHundredDevices) {
  PlacementSettings settings;
  const std::uint32_t part = harness::kSanitized ? 10 : 1;
  settings.devices.assign(100 / part, {.speed = 100, .memory = 128 * kGibibyte});
  settings.kinds = {{.spec = {.kernel = 2ms, .count = 10'000 / part}, .memory = kGibibyte, .within = 1s}};
  settings.length = 13s;
  settings.measured_from = 1s;
  settings.slices = SliceRule::constant(6ms);
  const Compared compared = compare(settings);
  EXPECT_EQ(compared.best.by_device, std::vector<std::uint32_t>(std::size_t{100} / part, 100));
  EXPECT_GT(compared.best.sum_of_shares(), 99.0 / part);
  EXPECT_LT(compared.first_fit.sum_of_shares(), 80.0 / part);
  EXPECT_GT(compared.best.min_max_ratio(settings), 0.85);
  EXPECT_LT(compared.first_fit.min_max_ratio(settings), 0.85);
}

TEST(PlacementRun, TenantsThatLeaveMakeRoomForThoseThatCome) {
  PlacementSettings settings;
  settings.devices.assign(2, {.speed = 100, .memory = 4 * kGibibyte});
  // Six at a time on average; room is for eight.
  settings.kinds = {{.spec = {.kernel = 1ms, .count = 60}, .memory = kGibibyte, .within = 20s, .stays = 2s}};
  settings.length = 25s;
  settings.measured_from = 0s;
  const PlacementOutcome best = run_placement(settings);
  EXPECT_LT(best.refused(), 10U);
  std::size_t served = 0;
  for (const PlacedTenant& tenant : best.tenants) served += tenant.used > 0ns ? 1U : 0U;
  EXPECT_EQ(served, 60 - best.refused());
  EXPECT_EQ(best.by_device, (std::vector<std::uint32_t>{0, 0}));
  EXPECT_GT(best.sum_of_shares(), 1.3);
}

TEST(PlacementRun, WithoutRoomTenantsAreRefused) {
  PlacementSettings settings;
  settings.devices.assign(2, {.speed = 100, .memory = 3 * kGibibyte});
  settings.kinds = {{.spec = {.count = 10}, .memory = kGibibyte}};
  settings.length = 2s;
  settings.measured_from = 1s;
  for (const Placement placement : {Placement::first_fit, Placement::round_robin, Placement::best}) {
    settings.placement = placement;
    const PlacementOutcome outcome = run_placement(settings);
    EXPECT_EQ(outcome.refused(), 4U);
    EXPECT_EQ(outcome.by_device, (std::vector<std::uint32_t>{3, 3}));
  }
}

TEST(PlacementRun, FasterDevicesGetMoreTenants) {
  PlacementSettings settings;
  settings.devices = {{.speed = 300}, {.speed = 100}};
  settings.kinds = {{.spec = {.count = 12}, .within = 100ms}};
  const PlacementOutcome outcome = run_placement(settings);
  EXPECT_EQ(outcome.by_device, (std::vector<std::uint32_t>{9, 3}));
  EXPECT_NEAR(outcome.sum_of_shares(), 4.0 / 3, 0.01);
  EXPECT_GT(outcome.min_max_ratio(settings), 0.95);
}

TEST(PlacementRun, IsRepeatedExactlyByItsSeed) {
  const auto used = [](std::uint64_t seed) {
    PlacementSettings settings = ten_for_each(2);
    settings.kinds[0].stays = 2s;
    settings.seed = seed;
    std::vector<Duration> times;
    for (const PlacedTenant& tenant : run_placement(settings).tenants) times.push_back(tenant.used);
    return times;
  };
  EXPECT_EQ(used(3), used(3));
  EXPECT_NE(used(3), used(4));
}

TEST(PlacementRun, RefusesAnUnknownPolicy) {
  PlacementSettings settings;
  settings.policy = "lottery";
  settings.devices = {{}};
  EXPECT_THROW(run_placement(settings), std::invalid_argument);
}

}  // namespace
}  // namespace fairgv::sched
