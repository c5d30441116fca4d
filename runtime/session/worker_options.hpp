// The options that the daemon gives a worker at its start: one struct, with each default in one place, handed
// over as one JSON object in an inherited memory file (`fairgv-vgpu --options-fd N`).
//
// The fields of WorkerTuning have rows in daemon/config/options/, with their ranges. The configuration
// holds them in this struct, too, so a new one needs its field, its row, and its line in each_field().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/session/protocol.hpp"
#include "runtime/session/wish/slicing_wish.hpp"
#include "sched/command_history.hpp"
#include "slicing/planner.hpp"

namespace fairgv::session {

/// By the configuration, for every session alike.
struct WorkerTuning {
  std::uint32_t samples = sched::CommandHistory::kDefaultSamples;  // commands of a kind measured one by one
  std::string device_cores{};    // of a CPU device's threads, not of the worker's own; empty: anywhere
  bool core_per_thread = true;   // of a CPU device's threads, each on its own
  bool coscheduling = true;      // interactive programs are woken with their turns, on devices apart
  std::string slicing = "time";  // how launches that outlast a slice are cut: "time", "static" or "off"
  std::uint64_t slicing_floor = slicing::kDefaultFloor;  // work-groups of the smallest part of a launch
  std::vector<std::string> never_slice{};                // functions whose launches run whole
  std::uint32_t objects = 1U << 20;                      // that the program may have at a time
  std::uint32_t commands = 1U << 18;  // that may be pending while only the program can make progress possible
};

/// Descriptors that the worker inherits, by number.
struct WorkerDescriptors {
  int segment = -1;
  int turns = -1;   // the turn page's memory
  int daemon = -1;  // socket: the worker speaks, the daemon's hang-up ends it
  int ledger = -1;  // socket to the ledger of memory
  int knock = -1;   // eventfd of the dispatcher
};

struct WorkerOptions {
  WorkerTuning tuning{};
  std::uint32_t session = 0;  // its number, for the log
  WorkerDescriptors descriptors{};
  double slice_ms = 6;  // device time that a lone tenant keeps in flight
  SlicingWish slicing_wish{};
  Api api = Api::opencl;
  std::vector<std::string> cuda_libraries{};  // the first with a device is used
  bool examine_drivers = false;               // tell the daemon which drivers cannot be opened
  bool takes_over = false;                    // it waits for a session that another worker has begun
  /// It serves no session, but tries whether this device can be used (device/device_failure.hpp).
  std::optional<DeviceDescription> trial{};
};

std::string to_text(const WorkerOptions& options);
/// An Error that names the first field which is missing, of the wrong type or out of its type's range.
Result<WorkerOptions> parse_worker_options(std::string_view text);

/// A memory file with the options, for a worker to inherit.
Result<UniqueFd> write_worker_options(const WorkerOptions& options);
/// Reads such a file, however long.
Result<WorkerOptions> read_worker_options(UniqueFd file);

}  // namespace fairgv::session
