// How long turns are while several tenants want a device: longer while they are few.
//
// A change of turns costs a fixed time, most of all where caches are filled anew, and the tenant with the
// lightest weight pays it most often for what it gets. So turns should be long; but everybody waits for those
// of all others, so with many tenants they must be short. A round of all has a length to share, as in the
// schedulers of operating systems; a constant slice, as in FairGV (section 3.2.1), is a rule, too.
#pragma once

#include <algorithm>
#include <cstddef>

#include "sched/types.hpp"

namespace fairgv::sched {

struct SliceRule {
  Duration least{1};  // however many want the device; at least 1 ns
  Duration most{1};   // however few; not less than `least`
  Duration round{0};  // what a turn of each of them should take together

  static constexpr SliceRule constant(Duration slice) { return {slice, slice}; }
  constexpr bool is_constant() const { return least == most; }

  /// While so many tenants want the device, whoever is next included.
  constexpr Duration of(std::size_t tenants) const {
    const auto each = static_cast<Duration::rep>(std::max<std::size_t>(tenants, 1));
    return std::clamp(round / each, least, most);
  }

  /// The device time that a tenant alone keeps in flight at most, so that whoever comes is served soon.
  constexpr Duration alone() const { return std::clamp<Duration>(std::chrono::milliseconds(6), least, most); }

  bool operator==(const SliceRule&) const = default;
};

/// The paper's, for devices that cannot interrupt a kernel, and for those that can, with costly switches.
inline constexpr SliceRule kNonPreemptiveSlice = SliceRule::constant(std::chrono::milliseconds(6));
inline constexpr SliceRule kPreemptiveSlice = SliceRule::constant(std::chrono::milliseconds(30));
/// The default: with few tenants so long that a change of turns costs less than 1 % of a turn, and up to 2.5 %
/// where it empties caches, with many so short that each has a turn soon (docs/SCHEDULING.md, Disciplines).
inline constexpr SliceRule kAdaptiveSlice{std::chrono::microseconds(1500), std::chrono::milliseconds(15),
                                          std::chrono::milliseconds(90)};

}  // namespace fairgv::sched
