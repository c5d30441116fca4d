// Programs that are moved from one device of PoCL to another while they run, and the same that are not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/base/result.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// How a session is moved. Fastest: the memory of its buffers is shared, and there is no link.
struct Way {
  bool copied = false;  // buffers lie in the driver's memory, as on other devices than CPUs
  bool linked = false;  // images go over the simulated link

  std::string name() const;
};

/// The link of LoGV's measurements.
inline constexpr const char* kLink = "100MB/s 1ms";
inline constexpr double kLinkBytesPerMs = 100e3;

/// A daemon with two devices that count as hardware of their own.
Result<harness::Tenancy> start_pair_of_devices(const harness::Placement& placement, bool linked);

struct MoveTimes {
  double duration_ms = 0;  // from the start of the command to its end
  double held_ms = 0;      // how long the daemon held the program
  double bytes = 0;        // of all images
};

struct MovedRun {
  nlohmann::json result;          // of the program
  std::optional<MoveTimes> move;  // none: it was not to move, or ended before it had moved
};

/// Runs the program to its end; moves it, if it is to move, half a second after it has first printed
/// something. An Error if it is wrong, or cannot move.
Result<MovedRun> run_and_move(const harness::Tenancy& tenancy, const Way& way,
                              std::vector<std::string> program, bool moves);

/// Bytes per millisecond of the way that contents take while the program waits: copied to a memory file, and
/// from there; the fastest of some tries.
Result<double> copy_bandwidth(std::size_t bytes);

}  // namespace fairgv::bench
