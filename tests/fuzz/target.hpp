// A fuzz target: what is done with one input, whatever its bytes are. docs/FUZZING.md says what each is for.
//
// libFuzzer runs a target for as long as it may (tools/fuzz); the test-suite runs all of them on their seeds
// and on random changes of those, with every compiler and sanitizer (fuzz_smoke_test).
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
  /// Aborts, or has a sanitizer abort, when something is wrong. One thread at a time.
  void (*run)(Input input);
  /// Inputs to begin with, made from real messages.
  std::vector<Bytes> (*seeds)();
  /// Changes an input in a way that leaves most of its structure.
  void (*mutate)(Bytes& input, Random& random);
};

/// What sides of a session say to each other: decoded, and encoded again.
extern const Target kCodec;
/// A ring whose other end writes what it likes.
extern const Target kRing;
/// OpenCL C of tenants, which the worker rewrites.
extern const Target kSources;
/// Fatbins and PTX of tenants, which the worker reads, rewrites and translates.
extern const Target kImages;
/// The daemon's socket, and what workers say to the daemon.
extern const Target kDaemon;
/// The output of workers.
extern const Target kOutput;
/// The file of subordinate user ids.
extern const Target kOwners;
/// What decides whom a client takes for its daemon.
extern const Target kPeers;
/// The worker's handlers, on the machine's real OpenCL driver.
extern const Target kWorker;

inline constexpr std::array kTargets{&kCodec,  &kRing,   &kSources, &kImages, &kDaemon,
                                     &kOutput, &kOwners, &kPeers,   &kWorker};

/// Prints what must hold and does not, and aborts.
void expect(bool so, std::string_view what);

}  // namespace fairgv::fuzz
