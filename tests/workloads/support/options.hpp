#pragma once
// The command line every workload shares: plain "--name value" pairs.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

/// The user's request cannot be carried out as asked; what() is one line. The program exits with 2.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class VerifyMode {
  kOnce,    ///< One checked round before the timed loop, and the last round of the timed loop.
  kLast,    ///< Only the last round of the timed loop: nothing runs before it.
  kAlways,  ///< Every round, the timed ones included.
  kOff,
};

struct Options {
  bool help = false;
  std::string platform = "0";  ///< Index, or part of the name.
  std::string device = "0";    ///< Index, or part of the name.
  double seconds = 2.0;        ///< Length of the measured window; unused when repetitions is set.
  std::optional<std::uint64_t> repetitions;
  std::optional<std::uint64_t> size;
  std::optional<std::uint64_t> iterations;
  std::optional<double> kernel_microseconds;
  std::optional<SyncMode> sync;
  std::optional<std::uint64_t> batch;  ///< Kernel launches per synchronization.
  std::uint64_t seed = 42;
  std::uint64_t warmup = 10;  ///< Rounds.
  VerifyMode verify = VerifyMode::kOnce;
  std::map<std::string, std::uint64_t> own;  ///< As Parameters::own; only those that were given.
  double sleep_ratio = 0.0;                  ///< Of the host's time.
  std::optional<double> start_at;            ///< Seconds on CLOCK_MONOTONIC.
  std::optional<std::chrono::milliseconds> progress;
  std::optional<std::chrono::milliseconds> clock;  ///< Watched that often during the window.
  std::string events_file;                         ///< None when empty.
  std::string waits_file;                          ///< None when empty.
  std::string requests_file;                       ///< None when empty.
};

/// Parses the command line of the program `description` tells of; throws BadInput.
Options parse_options(const Description& description, int argc, const char* const* argv);

/// The text of --help, with the program's own defaults.
std::string usage(const Description& description);

const char* sync_name(SyncMode mode);

}  // namespace workloads
