// This session's commands that held a device for longer than their slice while others wanted it, and could
// not be cut. `fairgv ps` and the daemon's log name them.
//
// A program can have any number of such kernels and run each without end, so names are few and reports rare.
// Pure logic, not thread-safe: the loop thread's.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/session/protocol.hpp"
#include "runtime/wire/ids.hpp"
#include "sched/types.hpp"

namespace fairgv::vgpu {

class LongCommands {
 public:
  /// Tells the daemon; false if it could not be told now. Must not wait (Socket::offer).
  using Send = std::function<bool(const session::LongCommand&)>;
  using Time = std::chrono::steady_clock::time_point;

  /// Between two reports of the same command.
  static constexpr std::chrono::seconds kBetweenReports{1};

  explicit LongCommands(Send send) : send_(std::move(send)) {}

  /// A command has held the device for `time`. The first time is reported at once, later ones at most once a
  /// second. A time that was not reported, or could not be sent, waits for a later call for this command:
  /// without one, the daemon never hears of the last second. `reason` says why it was not cut: "it uses
  /// pipes". Names beyond session::kMostLongCommands count as session::kOtherCommands.
  void held(wire::DeviceIndex device, std::string_view name, std::string_view reason, sched::Duration time,
            Time now);

 private:
  struct Entry {
    session::LongCommand command;
    std::optional<Time> reported;
  };

  std::string_view known_name(std::string_view name);
  Entry& entry_of(wire::DeviceIndex device, std::string_view name);

  const Send send_;
  std::vector<std::string> names_;
  std::vector<Entry> entries_;  // a name has one for each device
};

}  // namespace fairgv::vgpu
