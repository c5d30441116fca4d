// Cuts a launch into sub-launches, so that it gives the device back about once a slice (FairGV,
// sections 3.3.2 and 5.5.2; the size follows measured time instead of a fixed count).
//
//   planner.next(pace, slice) ── whole: launch it as the application sent it; nothing else comes
//        │                  └── a box: run it, measure it, ask again with a better pace
//        └── until done()
//
// Guarantees, whatever the answers were made from:
//  - The boxes tile the grid exactly once, in the order of the group ids (dimension 0 fastest). Each is a
//    run of whole planes, of whole rows of one plane, or of groups of one row.
//  - A launch below twice the floor is never cut, and no box of any other has fewer work-groups than the
//    floor. The floor yields where so few work-groups are expected to last longer than `longest`: it is then
//    as many as last that long. A command that holds the device for seconds hurts others more than the short
//    sub-launches can cost.
//  - A box is expected to last at most the rest of the slice, or has fewer than three times the floor:
//    where what fits is too small to be worth a launch, the floor wins. (Three, and not one: no row or plane
//    is cut so that a piece would be below the floor, and no tail is left that would be.)
//  - Pieces of the same plane, row or launch are of nearly equal size while the pace stays, so there are no
//    short tails.
//
// How the size is chosen: from the outside in. If at least one plane fits, as many planes as fit; else, if a
// plane can be cut, as many rows as fit; else parts of a row. While nothing is known, the answer is about the
// floor, which measures the kernel.
//
// Pure logic, not thread-safe: it belongs to one launch.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "slicing/launch.hpp"

namespace fairgv::slicing {

using Duration = std::chrono::nanoseconds;

// Below so many work-groups a sub-launch costs more than it gives; above, the paper measured a cost under 5 %
// (table 4).
inline constexpr std::uint64_t kDefaultFloor = 1500;

// The paper's static rule calls a kernel long when its grid is larger than this (section 5.5.2).
inline constexpr std::uint64_t kStaticGrid = 600 * 600;

struct PlannerSettings {
  std::uint64_t floor = kDefaultFloor;  // work-groups; zero counts as one
  Duration longest{0};                  // at the floor; zero: the floor never yields

  // The paper's static rule: a launch of more work-groups than this is cut into pieces of about the floor,
  // any other runs whole, and no time matters.
  std::optional<std::uint64_t> static_grid = std::nullopt;
};

// A measurement: so many work-groups of this kernel took so long. Zero blocks say nothing; a time of zero
// counts as one nanosecond.
struct Pace {
  std::uint64_t blocks = 0;
  Duration time{0};
};

struct Slice {
  Duration left{0};    // of the turn in which the answer is going to run
  Duration length{0};  // of a turn: a launch that is expected to last no longer is left whole
};

struct SubLaunch {
  Box box;
  bool whole = false;  // the box is all of the launch: run it unchanged
};

class Planner {
 public:
  // `done`: so many of the first work-groups, in the order above, have been handed out by another planner,
  // which may have cut as it liked: a row that it has begun is finished first, however short. Precondition:
  // launch.is_valid(), and fewer than all are done.
  explicit Planner(const Launch& launch, const PlannerSettings& settings = {}, std::uint64_t done = 0);

  // The next part to run. Without a pace the kernel's speed is unknown. Precondition: not done().
  SubLaunch next(const std::optional<Pace>& pace, const Slice& slice);

  // Whether everything has been handed out.
  bool done() const { return left_ == 0; }

  std::uint64_t blocks_left() const { return left_; }
  std::uint64_t blocks_done() const { return total_ - left_; }

 private:
  std::uint64_t blocks_that_fit(const std::optional<Pace>& pace, const Slice& slice) const;
  bool stays_whole(const std::optional<Pace>& pace, const Slice& slice) const;
  std::uint64_t floor_at(const std::optional<Pace>& pace) const;
  bool can_be_cut(std::size_t dimension, std::uint64_t floor) const;
  Box cut(std::uint64_t fitting, std::uint64_t floor) const;
  void advance(const Box& box);

  const Extent grid_;  // work-groups
  const Extent unit_;  // work-groups of one step in each dimension: a group, a row, a plane
  const std::uint64_t total_;
  const std::uint64_t floor_;
  const Duration longest_;
  const std::optional<std::uint64_t> static_grid_;

  Extent position_;  // the first group that has not been handed out
  std::uint64_t left_;
};

}  // namespace fairgv::slicing
