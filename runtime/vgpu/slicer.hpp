// Which commands of a device run in parts, and what part is next (kernel slicing, docs/SLICING.md).
//
// A launch that runs in parts stays the first of its device's commands until its last part has ended: each
// part is issued when the device has nothing else of this session, measured, and followed by the next one, in
// the same turn or a later one. So whatever depends on the launch comes after all of it, and what one part
// took says how large the next may be.
//
// Externally synchronised by the executor's lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/vgpu/device_command.hpp"
#include "runtime/vgpu/slicing_settings.hpp"
#include "runtime/vgpu/turn_keeper.hpp"
#include "slicing/planner.hpp"

namespace fairgv::vgpu {

class Slicer {
 public:
  explicit Slicer(const SlicingSettings& settings) : settings_(settings), random_(settings.number) {}

  enum class Way {
    whole,
    part,
    not_yet,  // it is being prepared, or must be: see to_prepare()
  };

  /// How to run the first of the device's commands, now. `slice`: what counts where the tenant is alone.
  Way way(DeviceCommand& first, const TurnKeeper& turn, slicing::Duration slice);

  /// The launch of which way() said last that its preparation must be begun; asking takes it.
  SliceableLaunch* take_to_prepare() { return std::exchange(to_prepare_, nullptr); }
  bool has_to_prepare() const { return to_prepare_ != nullptr; }
  void forget_to_prepare() { to_prepare_ = nullptr; }

  /// The command, for which the way is `part`, is about to be issued: tells it which part.
  void begin_part(DeviceCommand& command, TimePoint now);
  /// The part has ended; true if it was the last.
  bool end_part(TimePoint now);
  /// The driver did not take the part; true if the command is to be run whole.
  bool part_refused();

  /// Why this command can never be run in parts; empty if it can.
  std::string_view why_whole(DeviceCommand& command) const;

  bool is_under_way(const DeviceCommand& command) const { return under_way_ == &command; }
  /// The launch has ended, or will run whole: what its parts took.
  slicing::Duration finish();

 private:
  std::optional<slicing::Slice> slice_for(const std::optional<slicing::Slice>& room,
                                          slicing::Duration slice) const;
  bool stays_whole(const slicing::Launch& grid, std::optional<slicing::Duration> expected,
                   const slicing::Slice& slice) const;
  slicing::Box next_box();

  const SlicingSettings settings_;
  std::uint64_t random_;
  SliceableLaunch* to_prepare_ = nullptr;  // of the first command; way() looks each time

  // What way() has found for the next part.
  slicing::Slice room_;
  std::optional<slicing::Duration> expected_;

  // Of the launch that runs in parts.
  const DeviceCommand* under_way_ = nullptr;
  std::optional<slicing::Planner> planner_;
  std::optional<slicing::Pace> pace_;
  std::uint64_t part_blocks_ = 0;
  std::uint64_t parts_ = 0;  // issued
  TimePoint part_began_{};
  slicing::Duration used_{0};
};

}  // namespace fairgv::vgpu
