// Decides which commands of a device run in parts, and which part is next (kernel slicing, docs/SLICING.md).
//
// A launch that runs in parts stays the first of its device's commands until its last part has ended: its
// parts are issued when the device has nothing else of this session, measured, and followed by the next one,
// in the same turn or a later one. So commands that depend on the launch come after all of it, and the time
// of one part decides the size of the next. A part may be issued shortly before the part ahead of it ends, so
// that the device does not wait for the worker in between.
//
// Externally synchronised by the executor's lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/vgpu/graph/device_command.hpp"
#include "runtime/vgpu/issue/slicing_settings.hpp"
#include "runtime/vgpu/turn/turn_client.hpp"
#include "slicing/planner.hpp"

namespace fairgv::vgpu {

class Slicer {
 public:
  explicit Slicer(const SlicingSettings& settings) : settings_(settings), random_(settings.number) {}

  enum class Way {
    whole,
    part,
    not_yet,  // it is being prepared, or must be: see take_to_prepare(); or its last part is under way
  };

  /// How to run the first of the device's commands, now. `slice`: the one that counts where the tenant is
  /// alone.
  Way way(DeviceCommand& first, const TurnClient& turn, slicing::Duration slice);

  /// The launch whose preparation must be begun, by the last way(); asking takes it.
  SliceableLaunch* take_to_prepare() { return std::exchange(to_prepare_, nullptr); }
  bool has_to_prepare() const { return to_prepare_ != nullptr; }
  void forget_to_prepare() { to_prepare_ = nullptr; }

  /// The command, for which the way is `part`, is about to be issued: tells it which part.
  void begin_part(DeviceCommand& command, TimePoint now);
  /// The part that was begun last has waited in the driver, and runs from now on.
  void run_part_from(TimePoint now) { issued_.back().began = now; }
  /// The oldest part under way, whose end end_part() is about to report: its number, from 1 on.
  struct PartUnderWay {
    std::uint64_t number;
    std::uint64_t blocks;
    TimePoint began;
  };
  PartUnderWay oldest_part() const {
    return {parts_ - issued_.size() + 1, issued_.front().blocks, issued_.front().began};
  }
  /// The oldest part under way has ended with `status`. Returns the launch's status if it has ended: after
  /// its last part, or, after a part that failed, once no part is under way.
  std::optional<std::int32_t> end_part(std::int32_t status, TimePoint now);
  /// The driver did not take the part that was begun last: whether the command is to be run whole. If not,
  /// that part has failed: call end_part().
  bool runs_whole_after_refusal() const { return parts_ == 1; }

  /// The time from which the next part may be issued although one is under way: an eighth of a slice before
  /// the expected end of the part under way. Nothing where it must not be issued.
  std::optional<TimePoint> ahead_from(slicing::Duration slice) const;

  /// Why this command can never be run in parts; empty if it can.
  std::string_view why_whole(DeviceCommand& command) const;

  /// Of the launch that is under way: the work-groups of the parts that were begun.
  std::uint64_t blocks_begun() const { return planner_->blocks_done(); }

  bool is_under_way(const DeviceCommand& command) const { return under_way_ == &command; }
  /// The launch has ended, or will run whole: returns the time of its parts.
  slicing::Duration finish();

 private:
  std::optional<slicing::Slice> slice_for(const std::optional<slicing::Slice>& room,
                                          slicing::Duration slice) const;
  bool stays_whole(const slicing::Launch& grid, std::optional<slicing::Duration> expected,
                   const slicing::Slice& slice) const;
  slicing::Box next_box();

  void take_floor(const TurnClient& turn);

  SlicingSettings settings_;
  std::uint64_t random_;
  SliceableLaunch* to_prepare_ = nullptr;  // of the first command; way() looks each time

  // The result of way() for the next part.
  slicing::Slice room_;
  std::optional<slicing::Duration> expected_;

  // Of the launch that runs in parts.
  struct Part {
    std::uint64_t blocks;
    TimePoint began;  // at the earliest: it may have been issued before the one ahead of it ended
    std::optional<slicing::Duration> expected;
  };
  const DeviceCommand* under_way_ = nullptr;
  bool one_by_one_ = true;
  std::optional<slicing::Planner> planner_;
  std::optional<slicing::Pace> pace_;
  std::deque<Part> issued_;  // and not ended, oldest first: two at most
  std::uint64_t parts_ = 0;  // ever issued
  std::int32_t failed_with_ = 0;
  slicing::Duration used_{0};
};

}  // namespace fairgv::vgpu
