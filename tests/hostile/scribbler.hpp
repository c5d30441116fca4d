// Random writes to the memory that a session shares with its worker and the daemon: header, rings, completion
// slots, arena. Plausible bytes are tried as well as noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/ring/segment.hpp"

namespace fairgv::hostile {

/// A part of the segment, in bytes.
struct Region {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  bool operator==(const Region&) const = default;
};

/// The parts of a segment that are worth writing to, as far as a program of ordinary size touches them. The
/// first regions of the list end a session most surely.
std::vector<Region> regions_of(const ring::SegmentPreamble& preamble);

class Scribbler {
 public:
  Scribbler(std::span<std::byte> segment, const ring::SegmentPreamble& preamble, std::uint64_t seed);

  /// One round: some writes to one region, a few bytes each. Atomic word by word, as far as the hardware
  /// goes.
  void round();

  /// Where the latest round wrote.
  const Region& latest() const { return latest_; }

 private:
  void write_somewhere();
  std::uint64_t below(std::uint64_t count);

  std::span<std::byte> segment_;
  std::vector<Region> regions_;
  std::mt19937_64 random_;
  Region latest_;
};

/// Where this process has a session's segment mapped; an Error if it has none (yet).
Result<std::span<std::byte>> find_segment();

}  // namespace fairgv::hostile
