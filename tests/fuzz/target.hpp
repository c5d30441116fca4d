// A fuzz target: the work done with one input, whatever its bytes are. docs/FUZZING.md tells the purpose of
// each target.
//
// libFuzzer runs a target for as long as it may (tools/fuzz); the test-suite runs all targets on their seeds
// and on random changes of the seeds, with every compiler and sanitizer (fuzz_smoke_test).
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace fairgv::fuzz {

using Bytes = std::vector<std::uint8_t>;
using Input = std::span<const std::uint8_t>;
using Random = std::mt19937_64;

struct Target {
  std::string_view name;
  /// Aborts, or makes a sanitizer abort, when something is wrong. One thread at a time.
  void (*run)(Input input);
  /// Inputs to begin with, made from real messages.
  std::vector<Bytes> (*seeds)();
  /// Changes an input in a way that keeps most of its structure.
  void (*mutate)(Bytes& input, Random& random);
};

/// Messages between the sides of a session: decoded, and encoded again.
extern const Target kCodec;
/// A ring whose other end writes anything.
extern const Target kRing;
/// OpenCL C of tenants, which the worker rewrites.
extern const Target kSources;
/// Fatbins and PTX of tenants, which the worker reads, rewrites and translates.
extern const Target kImages;
/// The daemon's socket, and the workers' messages to the daemon.
extern const Target kDaemon;
/// The output of workers.
extern const Target kOutput;
/// The file of subordinate user ids.
extern const Target kOwners;
/// The texts that decide which daemon a client trusts.
extern const Target kPeers;
/// The worker's handlers, on the machine's real OpenCL driver.
extern const Target kWorker;

inline constexpr std::array kTargets{&kCodec,  &kRing,   &kSources, &kImages, &kDaemon,
                                     &kOutput, &kOwners, &kPeers,   &kWorker};

/// Unless `so` holds, prints `what` and aborts.
void expect(bool so, std::string_view what);

}  // namespace fairgv::fuzz
