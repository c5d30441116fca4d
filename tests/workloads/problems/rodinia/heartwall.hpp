#pragma once
// Points on the walls of a beating heart, tracked through the frames of a film. Each point has a small
// picture of its surroundings, the template, which is looked for in every frame near where the point ought to
// be. All numbers are integers, so that the best place is the same everywhere.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kHeartwall;

/// The host's part: from where the points were found it says where to look for them in the next frame.
/// Positions are x and y of each point.
class HeartwallTrack {
 public:
  using Positions = std::vector<std::int32_t>;

  explicit HeartwallTrack(const Positions& start) : found_(start), centres_(start) {}

  /// Where to look in the next frame.
  const Positions& centres() const { return centres_; }

  /// The points were found there; each wall goes on as its points have moved on average.
  void follow(const Positions& found);

  /// The positions in all frames so far, one after the other.
  const Positions& path() const { return path_; }

 private:
  /// For the points from `first` to before `end`.
  void follow_wall(const Positions& found, std::size_t first, std::size_t end);

  Positions found_;
  Positions centres_;
  Positions path_;
};

struct HeartwallProblem {
  static constexpr std::size_t kGroup = 128;
  static constexpr std::size_t kSide = 320;      ///< Of a frame, in pixels.
  static constexpr std::size_t kStripRows = 20;  ///< A frame comes to the device in strips, as it is decoded.
  static constexpr std::size_t kFrames = 4;
  static constexpr std::size_t kTemplate = 24;            ///< Rows and columns of a template.
  static constexpr std::size_t kRadius = 24;              ///< How far from the centre it is looked for.
  static constexpr std::size_t kReach = 2 * kRadius + 1;  ///< Places in a row that are tried.
  static constexpr std::size_t kWindow = kTemplate + 2 * kRadius;
  static_assert(kSide % kStripRows == 0);

  explicit HeartwallProblem(const Parameters& parameters);

  /// Products of a pixel and one of a template.
  double work() const {
    return static_cast<double>(points * kFrames * kReach * kReach * kTemplate * kTemplate) / 1e6;
  }

  std::optional<std::string> find_mismatch(const HeartwallTrack::Positions& path,
                                           const std::vector<std::int32_t>& patterns);

  const std::size_t points;
  HeartwallTrack::Positions start;
  std::vector<std::int8_t> frames;     ///< kFrames, row by row; black is negative.
  std::vector<std::int32_t> patterns;  ///< The templates at the beginning.

 private:
  void track_on_host();

  std::vector<std::int32_t> expected_path_;
  std::vector<std::int32_t> expected_patterns_;
};

}  // namespace workloads
