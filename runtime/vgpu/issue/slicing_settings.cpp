#include "runtime/vgpu/issue/slicing_settings.hpp"

namespace fairgv::vgpu {
namespace {

/// Well below the time for which the watchdog lets one turn hold the device (`hold_limit_s`, 10 s).
constexpr slicing::Duration kLongestAtFloor = std::chrono::seconds(1);

}  // namespace

SlicingSettings slicing_settings(std::string_view configured, std::uint64_t floor,
                                 const session::SlicingWish& wish) {
  using Mode = SlicingSettings::Mode;
  using Wish = session::SlicingWish::Kind;
  SlicingSettings settings{.number = wish.number, .planner = {.floor = floor, .longest = kLongestAtFloor}};
  if (configured == "static") settings.planner.static_grid = slicing::kStaticGrid;
  switch (wish.kind) {
    case Wish::as_configured:
      settings.mode = configured == "off" ? Mode::off : Mode::shared;
      break;
    case Wish::off:
      settings.mode = Mode::off;
      break;
    case Wish::always:
      settings.mode = Mode::always;
      break;
    case Wish::random:
      settings.mode = Mode::random;
      settings.planner = {.floor = 1};
      break;
    case Wish::blocks:
      settings.mode = Mode::blocks;
      settings.planner = {.floor = wish.number};
      break;
  }
  return settings;
}

}  // namespace fairgv::vgpu
