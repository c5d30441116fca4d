// The length of turns while several tenants want a device: longer while there are few tenants.
//
// A change of turns costs a fixed time, most of all where caches are filled anew, and relative to its share
// the tenant with the lightest weight pays most often. So turns should be long. But every tenant waits for
// the turns of all others, so with many tenants turns must be short. As in the schedulers of operating
// systems, all tenants share the length of a round; a constant slice, as in FairGV (section 3.2.1), is a
// rule, too.
#pragma once

#include <algorithm>
#include <cstddef>

#include "sched/types.hpp"

namespace fairgv::sched {

struct SliceRule {
  Duration least{1};  // however many want the device; at least 1 ns
  Duration most{1};   // however few; not less than `least`
  Duration round{0};  // the time for one turn of each tenant

  static constexpr SliceRule constant(Duration slice) { return {slice, slice}; }
  constexpr bool is_constant() const { return least == most; }

  /// The slice while so many tenants want the device, the next one included.
  constexpr Duration of(std::size_t tenants) const {
    const auto each = static_cast<Duration::rep>(std::max<std::size_t>(tenants, 1));
    return std::clamp(round / each, least, most);
  }

  /// The most device time that a tenant alone keeps in flight, so that a newcomer is served soon.
  constexpr Duration alone() const { return std::clamp<Duration>(std::chrono::milliseconds(6), least, most); }

  bool operator==(const SliceRule&) const = default;
};

/// The paper's slices, for devices that cannot interrupt a kernel, and for devices that can, with costly
/// switches.
inline constexpr SliceRule kNonPreemptiveSlice = SliceRule::constant(std::chrono::milliseconds(6));
inline constexpr SliceRule kPreemptiveSlice = SliceRule::constant(std::chrono::milliseconds(30));
/// The default. With few tenants, turns are so long that a change of turns costs less than 1 % of a turn, and
/// up to 2.5 % where it empties caches; with many, so short that each has a turn soon (docs/SCHEDULING.md,
/// Disciplines).
inline constexpr SliceRule kAdaptiveSlice{std::chrono::microseconds(1500), std::chrono::milliseconds(15),
                                          std::chrono::milliseconds(90)};

}  // namespace fairgv::sched
