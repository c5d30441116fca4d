// The settings of an executor: limits, how turns and slices are measured, and whom to tell what.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "runtime/session/worker_options.hpp"
#include "runtime/vgpu/graph/device_command.hpp"
#include "runtime/vgpu/issue/slicing_settings.hpp"
#include "runtime/vgpu/turn/turn_meter.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::vgpu {

class Residency;
class Tracer;

/// Bounds of the pending work that only the program can make progress possible for.
struct IssueLimits {
  /// Commands. The front end is told and sends no more; commands that it has sent by then are taken. A front
  /// end that goes on breaks the protocol.
  std::uint64_t commands = session::WorkerTuning{}.commands;
  /// Events in the wait lists of commands that have not ended. A command whose list goes beyond fails.
  std::uint64_t waits = std::uint64_t{1} << 23;
  /// Notices that are to be posted, or were not taken.
  std::uint64_t notices = wire::kMostNotices;
};

struct IssueSettings {
  TurnSettings turn;
  /// By device, what else the dispatcher says of turns; empty: an earlier release's daemon says nothing. It
  /// outlives the executor.
  std::span<session::TurnPromise> promises{};
  /// By device; null where the device's memory is not lent, empty if none is. It outlives the executor.
  std::span<Residency* const> residencies{};
  std::function<TimePoint()> now = std::chrono::steady_clock::now;
  /// Tells the dispatcher to look at a device's turn; false when that must be tried again.
  std::function<bool(wire::DeviceIndex)> knock = [](wire::DeviceIndex) { return true; };
  SlicingSettings slicing{};
  IssueLimits limits{};
  /// Hears of a command that ran for longer than a slice while others wanted the device, and why it was not
  /// run in parts. With the lock held: it must return soon.
  std::function<void(const DeviceCommand&, std::string_view why_whole, Duration, TimePoint)> held_long{};
  /// Hears of a command that a driver has refused, or ended with an error. True: the driver says that the
  /// device has failed, and nothing more is handed to it until Loop::use_device(). With the lock held: it
  /// must return soon.
  std::function<bool(const DeviceCommand&, std::int32_t error)> failed{};
  /// Called with true before a driver gets a launch to make code for, on the loop thread, and with false when
  /// that is over, there or on a thread of the driver's; with the lock held.
  std::function<void(bool at_work)> compiler{};
  /// Records commands that end, while somebody traces; may be null. Used with the lock held. Outlives the
  /// executor.
  Tracer* tracer = nullptr;
};

}  // namespace fairgv::vgpu
