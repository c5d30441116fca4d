// Where the devices of a session's program lie, once the session was moved: the program keeps its numbers of
// devices, and the worker has the objects of one device on another, their place. Devices and places are the
// session's worker's numbers.
//
// Pure logic.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/daemon/devices/view.hpp"

namespace fairgv::daemon {

class DeviceMap {
 public:
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  /// Every device lies in its own place.
  DeviceMap() = default;
  /// As an earlier daemon had it; `visited` and `forced`: see there.
  DeviceMap(Pairs moved, std::uint64_t visited, std::uint64_t forced = 0)
      : moved_(std::move(moved)), visited_(visited), forced_(forced) {}

  std::uint32_t place_of(std::uint32_t device) const;
  /// The devices that do not lie in their own places, each with its place.
  const Pairs& moved() const { return moved_; }
  /// Places, a bit each, where a device from elsewhere lies or has lain.
  std::uint64_t visited() const { return visited_; }
  /// Devices, a bit each, that somebody has put by force where they lie, though the place may be unlike them.
  std::uint64_t forced() const { return forced_; }
  std::vector<std::uint32_t> forced_devices() const;

  /// The same after everything in the first place of each pair has gone to the second. Devices that are
  /// hidden from the program have nothing there.
  DeviceMap after(const Pairs& moves, const DeviceView& programs) const;

  /// The same with each of these devices in the place that comes with it.
  DeviceMap with(const Pairs& placed, const DeviceView& programs) const;

  /// The same with all devices that do not lie in their own places put there by force.
  DeviceMap by_force() const;

  /// The view, in which all places are hidden but those where a device lies that the program may use.
  DeviceView places_in(const DeviceView& programs) const;
  /// The view in which each of the program's devices is the host's where it lies; two may lie on one.
  DeviceView homes_in(const DeviceView& programs) const;
  /// The view of the places where the session has, or has had, turns.
  DeviceView visited_in(const DeviceView& programs) const;

 private:
  Pairs moved_{};
  std::uint64_t visited_ = 0;
  std::uint64_t forced_ = 0;
};

/// A device of a session's program that lies elsewhere since its place was drained. By the worker's numbers.
struct Evacuation {
  std::uint32_t device = 0;
  std::uint32_t home = 0;   // the place that was drained
  std::uint32_t place = 0;  // where it lies while nobody has moved it again
};

/// The places whose content goes to the place `to`: those that the session uses (`used`, a bit each), or all
/// where it uses none. `places`: see DeviceMap::places_in(). An Error if nothing that is used lies elsewhere.
Result<DeviceMap::Pairs> moves_to(const DeviceView& places, std::uint64_t used, std::uint32_t to);

}  // namespace fairgv::daemon
