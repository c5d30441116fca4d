// A link that is simulated between the workers of a session that moves, for experiments on one machine, in
// the text that people write: "100MB/s 1ms", its bandwidth and its latency.
//
// Pure logic.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "runtime/base/result.hpp"

namespace fairgv::daemon {

struct MoveLink {
  std::uint64_t bytes_per_second = 0;  // at least kLeastBandwidth
  std::chrono::milliseconds latency{0};

  /// Even the largest image arrives some day.
  static constexpr std::uint64_t kLeastBandwidth = 1'000'000;
  static constexpr std::uint64_t kMostBandwidth = 1'000'000'000'000;
  static constexpr std::chrono::milliseconds kMostLatency{10'000};

  /// From when so much is sent to when all of it has arrived.
  std::chrono::nanoseconds time_for(std::uint64_t bytes) const;

  friend bool operator==(const MoveLink&, const MoveLink&) = default;
};

/// An Error that says what may be written instead.
Result<MoveLink> parse_move_link(const std::string& text);
/// Text that is read as the same.
std::string to_text(const MoveLink& link);

}  // namespace fairgv::daemon
