#include "runtime/vgpu/slicer.hpp"

namespace fairgv::vgpu {
namespace {

using slicing::Duration;
using slicing::Pace;
using slicing::Slice;

/// A pseudo-random number from 1 to `largest` (SplitMix64).
std::uint64_t draw(std::uint64_t& state, std::uint64_t largest) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t x = state;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return (x ^ (x >> 31)) % largest + 1;
}

}  // namespace

std::optional<Slice> Slicer::slice_for(const std::optional<Slice>& room, Duration slice) const {
  switch (settings_.mode) {
    case SlicingSettings::Mode::off:
      return std::nullopt;
    case SlicingSettings::Mode::shared:
      return room;
    case SlicingSettings::Mode::always:
      return room.value_or(Slice{slice, slice});
    case SlicingSettings::Mode::random:
    case SlicingSettings::Mode::blocks:
      return Slice{};  // whatever time it takes
  }
  return std::nullopt;
}

bool Slicer::stays_whole(const slicing::Launch& grid, std::optional<Duration> expected,
                         const Slice& slice) const {
  slicing::Planner planner(grid, settings_.planner);
  std::optional<Pace> pace;
  if (expected) pace = Pace{planner.blocks_left(), *expected};
  return planner.next(pace, slice).whole;
}

Slicer::Way Slicer::way(DeviceCommand& first, const TurnKeeper& turn, Duration slice) {
  forget_to_prepare();
  const auto room = slice_for(turn.room(), slice);
  if (is_under_way(first)) {
    // Begun in parts, ended in parts: without another tenant in parts of whole slices.
    room_ = room.value_or(Slice{slice, slice});
    return Way::part;
  }
  if (!room) return Way::whole;
  room_ = *room;
  expected_ = turn.expected(first.kind());
  // Nearly all commands: known, and short.
  const bool by_time = room_.length > Duration(0) && !settings_.planner.static_grid;
  if (by_time && expected_ && *expected_ <= room_.length) return Way::whole;
  SliceableLaunch* const launch = first.sliceable();
  if (launch == nullptr || stays_whole(launch->grid(), expected_, room_)) return Way::whole;
  switch (launch->readiness()) {
    case SliceableLaunch::Readiness::ready:
      return Way::part;
    case SliceableLaunch::Readiness::impossible:
      return Way::whole;
    case SliceableLaunch::Readiness::unprepared:
      to_prepare_ = launch;
      break;
    case SliceableLaunch::Readiness::in_preparation:
      break;
  }
  return Way::not_yet;
}

std::string_view Slicer::why_whole(DeviceCommand& command) const {
  if (settings_.mode == SlicingSettings::Mode::off) return "slicing is off";
  const SliceableLaunch* const launch = command.sliceable();
  if (launch == nullptr || launch->readiness() == SliceableLaunch::Readiness::impossible) {
    return command.why_whole();
  }
  return stays_whole(launch->grid(), std::nullopt, {}) ? "it has too few work-groups" : std::string_view();
}

void Slicer::begin_part(DeviceCommand& command, TimePoint now) {
  SliceableLaunch& launch = *command.sliceable();
  if (!is_under_way(command)) {
    under_way_ = &command;
    planner_.emplace(launch.grid(), settings_.planner);
    pace_.reset();
    if (expected_) pace_ = Pace{planner_->blocks_left(), *expected_};
    used_ = Duration(0);
    parts_ = 0;
  }
  const slicing::Box box = next_box();
  part_blocks_ = *slicing::volume(box.groups);
  part_began_ = now;
  ++parts_;
  launch.take(box);
}

slicing::Box Slicer::next_box() {
  switch (settings_.mode) {
    case SlicingSettings::Mode::random:
      // A work-group takes a nanosecond, and a random number of nanoseconds is left.
      return planner_->next(Pace{1, Duration(1)}, {Duration(draw(random_, planner_->blocks_left()))}).box;
    case SlicingSettings::Mode::blocks:
      return planner_->next(std::nullopt, {}).box;
    default:
      return planner_->next(pace_, room_).box;
  }
}

bool Slicer::end_part(TimePoint now) {
  const Duration took = now - part_began_;
  used_ += took;
  pace_ = Pace{part_blocks_, took};
  return planner_->done();
}

bool Slicer::part_refused() {
  return parts_ == 1;
}

Duration Slicer::finish() {
  under_way_ = nullptr;
  return used_;
}

}  // namespace fairgv::vgpu
