// The planner's guarantees (slicing/planner.hpp), on random launches, floors, paces and slices. Every bound
// is proven there or in the comments here, so a failure is a bug and not bad luck.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "slicing/planner.hpp"
#include "tests/unit/slicing/random.hpp"

namespace {

using fairgv::slicing::Box;
using fairgv::slicing::Duration;
using fairgv::slicing::Extent;
using fairgv::slicing::kMaxDimensions;
using fairgv::slicing::Launch;
using fairgv::slicing::Pace;
using fairgv::slicing::Planner;
using fairgv::slicing::Random;
using fairgv::slicing::Slice;
using fairgv::slicing::SubLaunch;
using fairgv::slicing::volume;
using std::chrono::milliseconds;

class SlicingPlannerRandom : public testing::Test {
 protected:
  // At most `most` work-groups; not all sizes are multiples of the local size.
  Launch launch_of(std::uint64_t most) {
    Launch launch{.dimensions = static_cast<std::uint32_t>(random_.between(1, 3))};
    for (std::size_t d = 0; d < launch.dimensions; ++d) {
      const std::uint64_t groups = std::max<std::uint64_t>(random_.magnitude(most), 1);
      most /= groups;
      launch.local[d] = random_.between(1, 64);
      launch.size[d] = groups * launch.local[d] - random_.between(0, launch.local[d] - 1);
    }
    return launch;
  }

  std::optional<Pace> pace() {
    if (random_.one_in(8)) return std::nullopt;
    return Pace{.blocks = random_.magnitude(1 << 20), .time = Duration(random_.magnitude(1 << 30))};
  }

  Slice slice() {
    const Duration length = Duration(random_.magnitude(1 << 26));
    return {.left = random_.one_in(2) ? length : length / 3, .length = length};
  }

  Random random_;
};

// The begin and the end of the box in the order of the group ids; the box must be a run of ids.
struct Run {
  std::uint64_t first;
  std::uint64_t blocks;
};

std::optional<Run> run_of(const Box& box, const Extent& grid) {
  // Only the slowest dimension with more than one step may be incomplete.
  bool outside = false;
  for (std::size_t d = kMaxDimensions; d-- > 0;) {
    if (box.groups[d] == 0 || box.first[d] + box.groups[d] > grid[d]) return std::nullopt;
    if (outside && box.groups[d] != grid[d]) return std::nullopt;
    outside = outside || box.groups[d] > 1;
  }
  return Run{(box.first[2] * grid[1] + box.first[1]) * grid[0] + box.first[0], *volume(box.groups)};
}

TEST_F(SlicingPlannerRandom, BoxesTileTheGridInOrderAndKeepFloorAndTime) {
  for (int trial = 0; trial < 20'000; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    const Launch launch = launch_of(1 << 20);
    ASSERT_TRUE(launch.is_valid());
    const std::uint64_t total = *volume(launch.groups());
    // Not so small that the launch falls into very many pieces.
    const std::uint64_t floor = std::max(random_.magnitude(4096), total / 200 + 1);
    Planner planner(launch, {.floor = floor});
    std::uint64_t position = 0;
    std::optional<Pace> known = pace();
    Slice now = slice();
    while (!planner.done()) {
      ASSERT_EQ(planner.blocks_left(), total - position);
      const SubLaunch answer = planner.next(known, now);
      const auto run = run_of(answer.box, launch.groups());
      ASSERT_TRUE(run.has_value());
      ASSERT_EQ(run->first, position);
      position += run->blocks;
      ASSERT_EQ(answer.whole, run->blocks == total);

      ASSERT_TRUE(answer.whole || run->blocks >= floor);
      if (run->blocks >= 3 * floor) {
        // blocks * time <= allowed * measured is the same bound without division.
        ASSERT_TRUE(known && known->blocks > 0);
        const Duration allowed = answer.whole ? now.length : now.left;
        const auto time = std::max(known->time, Duration(1));
        ASSERT_LE(run->blocks * static_cast<std::uint64_t>(time.count()),
                  static_cast<std::uint64_t>(allowed.count()) * known->blocks);
      }
      if (random_.one_in(3)) known = pace();
      if (random_.one_in(3)) now = slice();
    }
    ASSERT_EQ(position, total);
  }
}

TEST_F(SlicingPlannerRandom, AnotherPlannerGoesOnWhereOneHasStopped) {
  for (int trial = 0; trial < 20'000; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    const Launch launch = launch_of(1 << 20);
    const std::uint64_t total = *volume(launch.groups());
    if (total == 1) continue;
    const std::uint64_t done = random_.between(1, total - 1);
    Planner planner(launch, {.floor = std::max(random_.magnitude(4096), total / 200 + 1)}, done);
    std::uint64_t position = done;
    while (!planner.done()) {
      ASSERT_EQ(planner.blocks_done(), position);
      ASSERT_EQ(planner.blocks_left(), total - position);
      const SubLaunch answer = planner.next(pace(), slice());
      const auto run = run_of(answer.box, launch.groups());
      ASSERT_TRUE(run.has_value());
      ASSERT_EQ(run->first, position);
      ASSERT_FALSE(answer.whole);
      position += run->blocks;
    }
    ASSERT_EQ(position, total);
  }
}

TEST_F(SlicingPlannerRandom, AYieldingFloorIsTheNumberOfWorkGroupsThatLastSoLong) {
  for (int trial = 0; trial < 20'000; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    const Launch launch = launch_of(1 << 20);
    const std::uint64_t total = *volume(launch.groups());
    const std::uint64_t last_so_long = 1 + total / 200 + random_.magnitude(4096);
    const std::uint64_t floor = random_.magnitude(4096) + total / 100;
    const Pace known{.blocks = 1, .time = Duration(1 + random_.magnitude(1'000'000))};
    Planner planner(launch, {.floor = floor, .longest = known.time * last_so_long});
    const std::uint64_t lowered =
        std::clamp<std::uint64_t>(last_so_long, 1, std::max<std::uint64_t>(floor, 1));
    const Slice now = slice();
    const auto fitting = static_cast<std::uint64_t>(std::max(now.left, Duration(0)) / known.time);
    std::uint64_t position = 0;
    while (!planner.done()) {
      const SubLaunch answer = planner.next(known, now);
      const auto run = run_of(answer.box, launch.groups());
      ASSERT_TRUE(run.has_value());
      ASSERT_EQ(run->first, position);
      position += run->blocks;
      ASSERT_TRUE(answer.whole || run->blocks >= lowered);
      ASSERT_TRUE(answer.whole || run->blocks <= std::max(fitting, 3 * lowered));
    }
    ASSERT_EQ(position, total);
  }
}

TEST_F(SlicingPlannerRandom, ALaunchThatIsExpectedToFitIsNeverCut) {
  for (int trial = 0; trial < 20'000; ++trial) {
    const Launch launch = launch_of(1 << 24);
    const std::uint64_t total = *volume(launch.groups());
    const Duration takes(random_.between(1, 6'000'000));
    const Slice now{.left = Duration(random_.magnitude(6'000'000)), .length = milliseconds(6)};
    ASSERT_TRUE(Planner(launch).next(Pace{.blocks = total, .time = takes}, now).whole) << "trial " << trial;
  }
}

// At one pace, and with full slices, the pieces of a row differ by at most one group.
TEST_F(SlicingPlannerRandom, PiecesOfARowAreOfEqualSizeAndAsFewAsPossible) {
  for (int trial = 0; trial < 2'000; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    const std::uint64_t total = random_.between(2, 1 << 20);
    const std::uint64_t fitting = random_.between(1500, total + 1500);
    const Pace known{.blocks = fitting, .time = milliseconds(6)};
    const Slice full{.left = milliseconds(6), .length = milliseconds(6)};
    Planner planner(Launch{.size = {total, 1, 1}});
    std::uint64_t pieces = 0, least = UINT64_MAX, most = 0;
    for (; !planner.done(); ++pieces) {
      const std::uint64_t blocks = *volume(planner.next(known, full).box.groups);
      least = std::min(least, blocks);
      most = std::max(most, blocks);
    }
    ASSERT_LE(most - least, 1u);
    ASSERT_LE(pieces, (total + fitting - 1) / fitting);
  }
}

// The largest numbers that a valid launch can have: nothing wraps.
TEST_F(SlicingPlannerRandom, HugeGridsDoNotOverflow) {
  for (int trial = 0; trial < 2'000; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    const Launch launch = launch_of(UINT64_MAX / 64);
    ASSERT_TRUE(launch.is_valid());
    const std::uint64_t total = *volume(launch.groups());
    Planner planner(launch, {.floor = random_.magnitude(UINT64_MAX)});
    std::uint64_t position = 0;
    for (int step = 0; step < 10 && !planner.done(); ++step) {
      const Pace any{.blocks = random_.magnitude(UINT64_MAX), .time = Duration(random_.magnitude(INT64_MAX))};
      const Slice now{.left = Duration(random_.magnitude(INT64_MAX)),
                      .length = Duration(random_.magnitude(INT64_MAX))};
      const auto run = run_of(planner.next(any, now).box, launch.groups());
      ASSERT_TRUE(run.has_value());
      ASSERT_EQ(run->first, position);
      position += run->blocks;
      ASSERT_EQ(planner.blocks_left(), total - position);
    }
  }
}

}  // namespace
