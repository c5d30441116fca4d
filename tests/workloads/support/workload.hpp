#pragma once
// The parts of each program of this folder: a description (its name, defaults and limits) and a Workload that
// can run one round of its work and check the result. run_workload() is the rest of main().

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace workloads {

class Target;

/// When the host waits for the device.
enum class SyncMode {
  kEvery,   ///< After every kernel launch: CPU-GPU interactive.
  kBatch,   ///< After every batch of launches.
  kStream,  ///< Two batches in flight: waits for the previous one, so the queue never runs empty.
};

/// The values a workload is built from.
struct Parameters {
  std::uint64_t size = 0;
  std::uint64_t iterations = 0;  ///< Used only by programs with Description::takes_iterations.
  std::uint64_t seed = 0;
  std::map<std::string, std::uint64_t> own;  ///< By the name of the OwnOption.
};

/// A number that only one program takes: "--name N" on the command line, and "name" in the result.
struct OwnOption {
  std::string name;
  std::string meaning;  ///< For --help, with the default.
  std::uint64_t default_value = 0;
  std::vector<std::uint64_t> choices;
};

struct Description {
  std::string name;
  std::string unit;          ///< Of the throughput.
  std::string size_meaning;  ///< The meaning of --size, for --help.
  std::uint64_t default_size = 0;
  std::uint64_t size_multiple = 1;
  std::uint64_t maximum_size = 0;
  double cost_exponent = 1.0;  ///< Kernel time grows as size to this power.
  SyncMode default_sync = SyncMode::kBatch;
  std::uint64_t default_batch = 1;           ///< Launches; about 3 ms of queued work at the default size.
  bool takes_iterations = false;             ///< Kernel time is set by the iteration count, not by the size.
  double default_kernel_microseconds = 0.0;  ///< Only with takes_iterations.
  std::vector<OwnOption> own_options{};
};

/// One program's work on one device. A round always starts from the same input and leaves the same result,
/// so that the result of any round, a timed one included, can be checked against one reference.
class Workload {
 public:
  virtual ~Workload() = default;

  /// Enqueues one round through the launcher. May block where the program itself needs a value on the host.
  virtual void enqueue_round() = 0;

  /// Work done by one round, in millions or billions as the description's unit says (per second).
  virtual double work_per_round() const = 0;

  /// Overwrites the results on the device, so that a later check cannot pass on an older round's.
  virtual void poison() = 0;

  /// Reads back the last round's result and compares it with the host's; a one-line mismatch, or nothing.
  virtual std::optional<std::string> find_mismatch() = 0;
};

/// Opens the device that two names stand for, each an index or part of a name (--platform, --device). Throws
/// BadInput when nothing matches.
using TargetOpener =
    std::function<std::unique_ptr<Target>(const std::string& platform, const std::string& device)>;

/// Everything between main() and the workload: command line, device, calibration, verification, warm-up, the
/// measured window, and the result as one JSON line on standard output. Returns the exit code: 0 verified,
/// 1 failed (one line on standard error), 2 bad input (one line on standard error).
int run_workload(const Description& description, const TargetOpener& open, int argc, const char* const* argv);

}  // namespace workloads
