#include "runtime/vgpu/issue/slicer.hpp"

namespace fairgv::vgpu {
namespace {

/// Part of a slice: how long before the end of one part the next may be issued. Long enough for a loop thread
/// that wakes late or a part that ends early; a newcomer waits that much longer at most.
constexpr int kAheadFraction = 8;

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

std::optional<Duration> expected_time(const std::optional<Pace>& pace, std::uint64_t blocks) {
  if (!pace || pace->blocks == 0) return std::nullopt;
  const double scale = static_cast<double>(blocks) / static_cast<double>(pace->blocks);
  return std::chrono::duration_cast<Duration>(pace->time * scale);
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

/// Takes the floor from the configuration, which may change while the worker runs. Where the program chooses
/// its parts, the configuration has no say.
void Slicer::take_floor(const TurnClient& turn) {
  using Mode = SlicingSettings::Mode;
  if (settings_.mode != Mode::shared && settings_.mode != Mode::always) return;
  settings_.planner.floor = turn.slicing_floor().value_or(settings_.planner.floor);
}

Slicer::Way Slicer::way(DeviceCommand& first, const TurnClient& turn, Duration slice) {
  forget_to_prepare();
  const auto room = slice_for(turn.meter().room(), slice);
  if (is_under_way(first)) {
    if (planner_->done() || failed_with_ != 0) return Way::not_yet;
    // Begun in parts, ended in parts: without another tenant in parts of whole slices.
    room_ = room.value_or(Slice{slice, slice});
    return Way::part;
  }
  const bool has_begun = first.begun > 0;
  if (!room && !has_begun) return Way::whole;
  take_floor(turn);
  room_ = room.value_or(Slice{slice, slice});
  expected_ = turn.meter().history().estimate(first.kind());
  // Nearly all commands: known, and short.
  const bool by_time = room_.length > Duration(0) && !settings_.planner.static_grid;
  if (by_time && !has_begun && expected_ && *expected_ <= room_.length) return Way::whole;
  SliceableLaunch* const launch = first.sliceable();
  if (launch == nullptr || (!has_begun && stays_whole(launch->grid(), expected_, room_))) return Way::whole;
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
    planner_.emplace(launch.grid(), settings_.planner, command.begun);
    pace_.reset();
    if (expected_) pace_ = Pace{planner_->blocks_left(), *expected_};
    used_ = Duration(0);
    parts_ = 0;
    failed_with_ = 0;
    // Where drivers may report two parts at once, or their times are kept, one ends before the next begins.
    one_by_one_ = !command.lane()->in_order() || command.lane()->clock() == Clock::device;
  }
  const slicing::Box box = next_box();
  const std::uint64_t blocks = *slicing::volume(box.groups);
  issued_.push_back({blocks, now, expected_time(pace_, blocks)});
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

std::optional<std::int32_t> Slicer::end_part(std::int32_t status, TimePoint now) {
  const Part part = issued_.front();
  issued_.pop_front();
  const Duration took = now - part.began;
  used_ += took;
  pace_ = Pace{part.blocks, took};
  if (status < 0 && failed_with_ == 0) failed_with_ = status;
  if (!issued_.empty()) {
    issued_.front().began = now;
    return std::nullopt;
  }
  if (failed_with_ != 0) return failed_with_;
  return planner_->done() ? std::optional(status) : std::nullopt;
}

std::optional<TimePoint> Slicer::ahead_from(Duration slice) const {
  if (one_by_one_ || issued_.size() != 1 || !issued_.front().expected) return std::nullopt;
  return issued_.front().began + *issued_.front().expected - slice / kAheadFraction;
}

Duration Slicer::finish() {
  under_way_ = nullptr;
  return used_;
}

}  // namespace fairgv::vgpu
