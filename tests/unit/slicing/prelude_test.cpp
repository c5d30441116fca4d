// Work-items of a sub-launch see the whole launch: encode() and the prelude together, at the limits of the
// encoding and on random launches.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "slicing/driver_launch.hpp"
#include "tests/unit/slicing/native_device.hpp"
#include "tests/unit/slicing/random.hpp"

namespace {

using fairgv::slicing::Box;
using fairgv::slicing::CarriedBits;
using fairgv::slicing::DriverLaunch;
using fairgv::slicing::encode;
using fairgv::slicing::Extent;
using fairgv::slicing::fits;
using fairgv::slicing::kCarriedBits;
using fairgv::slicing::kMaxDimensions;
using fairgv::slicing::Launch;
using fairgv::slicing::Random;
namespace device = fairgv::slicing::native_device;

constexpr std::uint64_t power(unsigned bits) {
  return std::uint64_t{1} << bits;
}

// One work-item, named as the whole launch names it, in the sub-launch of this box.
void expect_sees_whole_launch(const Launch& launch, const Box& box, const Extent& group, const Extent& local,
                              bool strict) {
  const auto sub = encode(launch, box, 64);
  ASSERT_TRUE(sub.has_value());
  device::current = {.launch = *sub, .local = local, .strict = strict};
  for (std::size_t d = 0; d < kMaxDimensions; ++d) {
    ASSERT_LE(sub->offset[d], UINT64_MAX - sub->size[d]) << "CL_INVALID_GLOBAL_OFFSET";
    device::current.group[d] = group[d] - box.first[d];
  }

  std::uint64_t linear = 0;
  for (std::uint32_t d = 3; d < 5; ++d) {
    SCOPED_TRACE("dimension " + std::to_string(d));
    const device::View seen = device::view(launch.dimensions, d);
    EXPECT_EQ(seen.global_offset, device::beyond(1, d));
    EXPECT_EQ(seen.group_id, device::beyond(2, d));
    EXPECT_EQ(seen.num_groups, device::beyond(3, d));
    EXPECT_EQ(seen.global_size, device::beyond(4, d));
    EXPECT_EQ(seen.global_id, device::beyond(5, d));
  }
  for (std::uint32_t d = kMaxDimensions; d-- > 0;) {
    SCOPED_TRACE("dimension " + std::to_string(d));
    const bool in_use = d < launch.dimensions;
    const std::uint64_t index = in_use ? group[d] * launch.local[d] + local[d] : 0;
    const device::View seen = device::view(launch.dimensions, d);
    EXPECT_EQ(seen.work_dim, launch.dimensions);
    EXPECT_EQ(seen.global_size, in_use ? launch.size[d] : 1);
    EXPECT_EQ(seen.num_groups, in_use ? launch.groups()[d] : 1);
    EXPECT_EQ(seen.group_id, in_use ? group[d] : 0);
    EXPECT_EQ(seen.global_offset, in_use ? launch.offset[d] : 0);
    EXPECT_EQ(seen.global_id, in_use ? launch.offset[d] + index : 0);
    linear = linear * (in_use ? launch.size[d] : 1) + index;
  }
  EXPECT_EQ(device::view(launch.dimensions, 0).global_linear_id, linear);
}

class SlicingPreludeRandom : public testing::Test {
 protected:
  // The fields hold any numbers that fit, each of any magnitude.
  Launch launch_that_fits() {
    while (true) {
      Launch launch{.dimensions = static_cast<std::uint32_t>(random_.between(1, 3))};
      const CarriedBits& bits = kCarriedBits[launch.dimensions - 1];
      for (std::size_t d = 0; d < launch.dimensions; ++d) {
        const std::uint64_t groups = std::max<std::uint64_t>(random_.magnitude(power(bits.groups) - 1), 1);
        launch.local[d] = std::max<std::uint64_t>(random_.magnitude(power(bits.missing)), 1);
        launch.size[d] = groups * launch.local[d];
        if (random_.one_in(2)) launch.size[d] -= random_.between(0, launch.local[d] - 1);
        launch.offset[d] = random_.magnitude(bits.offset == 64 ? UINT64_MAX : power(bits.offset) - 1);
      }
      if (fits(launch, 64)) return launch;
    }
  }

  // A group of the box, the last one often; and a work-item of it.
  Extent group_in(const Box& box) {
    Extent group{};
    for (std::size_t d = 0; d < kMaxDimensions; ++d) {
      const std::uint64_t last = box.groups[d] - 1;
      group[d] = box.first[d] + (random_.one_in(2) ? last : random_.between(0, last));
    }
    return group;
  }
  Extent local_in(const Launch& launch, const Extent& group) {
    Extent local{};
    for (std::size_t d = 0; d < kMaxDimensions; ++d) {
      const std::uint64_t rest = launch.size[d] - group[d] * launch.local[d];
      local[d] = random_.between(0, std::min(rest, launch.local[d]) - 1);
    }
    return local;
  }

  Random random_;
};

TEST_F(SlicingPreludeRandom, EveryWorkItemSeesTheWholeLaunch) {
  for (int trial = 0; trial < 50'000; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    const Launch launch = launch_that_fits();
    const Box box = random_.box_of(launch);
    const Extent group = group_in(box);
    expect_sees_whole_launch(launch, box, group, local_in(launch, group), random_.one_in(2));
    if (HasFailure()) return;
  }
}

// Sub-launches have whole groups of the whole launch's local size, and its work-items, each once.
TEST_F(SlicingPreludeRandom, BoxesHaveTheWorkItemsOfTheirGroups) {
  for (int trial = 0; trial < 20'000; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    const Launch launch = launch_that_fits();
    const Box box = random_.box_of(launch);
    const DriverLaunch sub = *encode(launch, box, 64);
    ASSERT_EQ(sub.dimensions, 3u);
    ASSERT_EQ(sub.local, launch.local);
    for (std::size_t d = 0; d < kMaxDimensions; ++d) {
      const std::uint64_t begin = box.first[d] * launch.local[d];
      const std::uint64_t all_full = box.groups[d] * launch.local[d];
      ASSERT_EQ(sub.size[d], std::min(all_full, launch.size[d] - begin));
    }
  }
}

// The largest launch of its number of dimensions, as far as the field of dimension d is concerned.
Launch with_groups(std::uint32_t dimensions, std::size_t d, std::uint64_t groups) {
  Launch launch{.dimensions = dimensions};
  launch.size[d] = groups;
  return launch;
}

TEST(SlicingDriverLaunch, FieldsAreFullExactlyAtTheirLimits) {
  for (std::uint32_t dimensions = 1; dimensions <= kMaxDimensions; ++dimensions) {
    const CarriedBits& bits = kCarriedBits[dimensions - 1];
    for (std::size_t d = 0; d < dimensions; ++d) {
      SCOPED_TRACE(std::to_string(dimensions) + " dimensions, dimension " + std::to_string(d));
      const Launch most_groups = with_groups(dimensions, d, power(bits.groups) - 1);
      EXPECT_TRUE(fits(most_groups, 64));
      EXPECT_FALSE(fits(with_groups(dimensions, d, power(bits.groups)), 64));
      Box last{};
      last.first[d] = power(bits.groups) - 2;
      expect_sees_whole_launch(most_groups, last, last.first, {0, 0, 0}, true);

      Launch missing{.dimensions = dimensions};
      missing.local[d] = power(bits.missing);
      EXPECT_TRUE(fits(missing, 64)) << "one work-item in a group of the largest size";
      expect_sees_whole_launch(missing, missing.whole(), {0, 0, 0}, {0, 0, 0}, true);
      missing.local[d] += 1;
      EXPECT_FALSE(fits(missing, 64));
      missing.size[d] = missing.local[d];
      EXPECT_TRUE(fits(missing, 64)) << "a larger local size that divides";

      if (bits.offset == 64) continue;
      Launch offset{.dimensions = dimensions};
      offset.offset[d] = power(bits.offset) - 1;
      EXPECT_TRUE(fits(offset, 64));
      expect_sees_whole_launch(offset, offset.whole(), {0, 0, 0}, {0, 0, 0}, true);
      offset.offset[d] += 1;
      EXPECT_FALSE(fits(offset, 64));
    }
  }
}

TEST(SlicingDriverLaunch, OneDimensionCarriesEveryOffset) {
  const Launch launch{.offset = {UINT64_MAX - 64, 0, 0}, .size = {64, 1, 1}, .local = {16, 1, 1}};
  const Box box{.first = {2, 0, 0}, .groups = {2, 1, 1}};
  expect_sees_whole_launch(launch, box, {3, 0, 0}, {15, 0, 0}, true);
}

TEST(SlicingDriverLaunch, WordsThatWouldPassTheLargestIdDoNotFit) {
  Launch launch{.dimensions = 2, .offset = {power(24) - 1, 0, 0}, .local = {4096, 1, 1}};
  launch.size[0] = (power(28) - 1) * 4096 - 4095;  // every bit of word 0 is set
  EXPECT_TRUE(launch.is_valid());
  EXPECT_FALSE(fits(launch, 64));
  launch.size[0] -= 4096 * 16;  // the groups stay 2^36 below the end, which is more than the launch has
  EXPECT_TRUE(fits(launch, 64));
}

TEST(SlicingDriverLaunch, WordsOf32BitsAreTooSmall) {
  EXPECT_FALSE(fits(Launch{}, 32));
  EXPECT_EQ(encode(Launch{}, Launch{}.whole(), 32), std::nullopt);
}

TEST(SlicingDriverLaunch, AnInvalidLaunchDoesNotFit) {
  EXPECT_FALSE(fits(Launch{.size = {0, 1, 1}}, 64));
}

}  // namespace
