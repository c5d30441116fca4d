#include "tests/workloads/problems/rodinia/heartwall.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "tests/workloads/support/verify.hpp"

namespace workloads {
namespace {

using Problem = HeartwallProblem;

constexpr std::int32_t kSide = Problem::kSide;
constexpr std::int32_t kWindow = Problem::kWindow;
constexpr std::int32_t kTemplate = Problem::kTemplate;
constexpr std::int32_t kRadius = Problem::kRadius;
constexpr std::int32_t kReach = Problem::kReach;
constexpr std::size_t kTemplatePixels = Problem::kTemplate * Problem::kTemplate;
constexpr std::size_t kFramePixels = Problem::kSide * Problem::kSide;

/// How far the heart is drawn together, in 1/256: before the first frame, and in each.
constexpr std::array<std::int32_t, Problem::kFrames + 1> kContraction = {0, 8, 18, 22, 12};

/// Tissue as ultrasound shows it: speckle, about two pixels wide, that moves with the heart, and noise.
class Film {
 public:
  explicit Film(std::uint64_t seed) : generator_(seed), grain_(kTissue * kTissue) {
    std::uniform_int_distribution<std::int32_t> uniform(-6, 6);
    for (std::int32_t& grain : grain_) grain = uniform(generator_);
  }

  /// Pixels from -27 to 27: the square of a correlation times an energy fits into 63 bits.
  std::vector<std::int8_t> frame(std::int32_t contraction) {
    std::uniform_int_distribution<std::int32_t> noise(-3, 3);
    std::vector<std::int8_t> pixels;
    pixels.reserve(kFramePixels);
    for (std::int32_t y = 0; y < kSide; ++y) {
      for (std::int32_t x = 0; x < kSide; ++x) {
        const std::int32_t pixel =
            speckle(before(x, contraction), before(y, contraction)) + noise(generator_);
        pixels.push_back(static_cast<std::int8_t>(pixel));
      }
    }
    return pixels;
  }

 private:
  static constexpr std::int32_t kMargin = 32;  // More than the heart draws in.
  static constexpr std::int32_t kTissue = kSide + 2 * kMargin;

  /// Where what is now here was before the contraction.
  static std::int32_t before(std::int32_t here, std::int32_t contraction) {
    return here + (here - kSide / 2) * contraction / 256;
  }

  std::int32_t grain(std::int32_t x, std::int32_t y) const {
    return grain_[static_cast<std::size_t>((y + kMargin) * kTissue + x + kMargin)];
  }

  std::int32_t speckle(std::int32_t x, std::int32_t y) const {
    return grain(x, y) + grain(x + 1, y) + grain(x, y + 1) + grain(x + 1, y + 1);
  }

  std::mt19937_64 generator_;
  std::vector<std::int32_t> grain_;
};

/// The first half of the points is on the inner wall, the rest on the outer one.
HeartwallTrack::Positions points_on_walls(std::size_t points) {
  HeartwallTrack::Positions positions;
  positions.reserve(2 * points);
  const std::size_t inner = points / 2;
  for (std::size_t point = 0; point < points; ++point) {
    const bool within = point < inner;
    const auto number = static_cast<double>(within ? point : point - inner);
    const double angle =
        2.0 * std::acos(-1.0) * number / static_cast<double>(within ? inner : points - inner);
    positions.push_back(kSide / 2 + static_cast<std::int32_t>((within ? 70 : 110) * std::cos(angle)));
    positions.push_back(kSide / 2 + static_cast<std::int32_t>((within ? 60 : 95) * std::sin(angle)));
  }
  return positions;
}

/// A square part of a frame around a centre; beyond the edge of the frame its last pixels go on.
std::vector<std::int32_t> cut_out(const std::int8_t* frame, std::int32_t x, std::int32_t y,
                                  std::int32_t side) {
  std::vector<std::int32_t> part;
  part.reserve(static_cast<std::size_t>(side * side));
  for (std::int32_t row = y - side / 2; row < y - side / 2 + side; ++row) {
    for (std::int32_t column = x - side / 2; column < x - side / 2 + side; ++column) {
      part.push_back(frame[std::clamp(row, 0, kSide - 1) * kSide + std::clamp(column, 0, kSide - 1)]);
    }
  }
  return part;
}

/// How much the template is like the pixels at one place of a window.
struct Likeness {
  std::int64_t correlation = 0;  ///< Not less than 0.
  std::int64_t energy = 0;       ///< Of the pixels.

  /// By correlation over the root of energy.
  bool exceeds(const Likeness& other) const {
    return correlation * correlation * (other.energy + 1) >
           other.correlation * other.correlation * (energy + 1);
  }
};

Likeness likeness(const std::int32_t* pattern, const std::int32_t* place) {
  std::int32_t correlation = 0;
  std::int32_t energy = 0;
  for (std::int32_t row = 0; row < kTemplate; ++row, place += kWindow) {
    for (std::int32_t column = 0; column < kTemplate; ++column) {
      correlation += *pattern++ * place[column];
      energy += place[column] * place[column];
    }
  }
  return {std::max(correlation, 0), energy};
}

/// The first pixel of that place in the window which is most like the template; of equal ones, the first.
const std::int32_t* most_alike(const std::int32_t* pattern, const std::vector<std::int32_t>& window) {
  const std::int32_t* best = window.data();
  Likeness most = likeness(pattern, best);
  for (std::int32_t place = 1; place < kReach * kReach; ++place) {
    const std::int32_t* const here = window.data() + place / kReach * kWindow + place % kReach;
    const Likeness now = likeness(pattern, here);
    if (!now.exceeds(most)) continue;
    most = now;
    best = here;
  }
  return best;
}

/// Finds a point near (x, y), which becomes where it is, and brings its template up to date.
void find_point(std::int32_t& x, std::int32_t& y, std::int32_t* pattern, const std::int8_t* frame) {
  const std::vector<std::int32_t> window = cut_out(frame, x, y, kWindow);
  const std::int32_t* const place = most_alike(pattern, window);
  const auto offset = static_cast<std::int32_t>(place - window.data());
  x += offset % kWindow - kRadius;
  y += offset / kWindow - kRadius;
  for (std::int32_t pixel = 0; pixel < kTemplate * kTemplate; ++pixel) {
    const std::int32_t seen = place[pixel / kTemplate * kWindow + pixel % kTemplate];
    pattern[pixel] = (3 * pattern[pixel] + seen) / 4;
  }
}

}  // namespace

const Description kHeartwall = {
    .name = "heartwall",
    .unit = "Mproduct/s",
    .size_meaning = "points to track",
    .default_size = 51,
    .maximum_size = 16384,
    .default_sync = SyncMode::kEvery,
    .default_batch = HeartwallProblem::kFrames,
};

void HeartwallTrack::follow(const Positions& found) {
  const std::size_t points = found.size() / 2;
  follow_wall(found, 0, points / 2);
  follow_wall(found, points / 2, points);
  found_ = found;
  path_.insert(path_.end(), found.begin(), found.end());
}

void HeartwallTrack::follow_wall(const Positions& found, std::size_t first, std::size_t end) {
  const auto points = static_cast<std::int64_t>(end - first);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    std::int64_t moved = 0;
    for (std::size_t i = 2 * first + axis; i < 2 * end; i += 2) moved += std::int64_t{found[i]} - found_[i];
    for (std::size_t i = 2 * first + axis; i < 2 * end; i += 2) {
      const std::int64_t centre = found[i] + moved / points;
      centres_[i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(centre, 0, kSide - 1));
    }
  }
}

HeartwallProblem::HeartwallProblem(const Parameters& parameters)
    : points(parameters.size), start(points_on_walls(points)) {
  Film film(parameters.seed);
  const std::vector<std::int8_t> first = film.frame(kContraction[0]);
  for (std::size_t point = 0; point < points; ++point) {
    const std::vector<std::int32_t> pattern =
        cut_out(first.data(), start[2 * point], start[2 * point + 1], kTemplate);
    patterns.insert(patterns.end(), pattern.begin(), pattern.end());
  }
  for (std::size_t frame = 1; frame <= kFrames; ++frame) {
    const std::vector<std::int8_t> next = film.frame(kContraction[frame]);
    frames.insert(frames.end(), next.begin(), next.end());
  }
}

std::optional<std::string> HeartwallProblem::find_mismatch(const HeartwallTrack::Positions& path,
                                                           const std::vector<std::int32_t>& last_patterns) {
  if (expected_path_.empty()) track_on_host();
  if (const auto mismatch = compare_exactly("coordinate", path, expected_path_)) return mismatch;
  return compare_exactly("template pixel", last_patterns, expected_patterns_);
}

void HeartwallProblem::track_on_host() {
  HeartwallTrack track(start);
  std::vector<std::int32_t> current = patterns;
  for (std::size_t frame = 0; frame < kFrames; ++frame) {
    HeartwallTrack::Positions found = track.centres();
    for (std::size_t point = 0; point < points; ++point) {
      find_point(found[2 * point], found[2 * point + 1], &current[point * kTemplatePixels],
                 &frames[frame * kFramePixels]);
    }
    track.follow(found);
  }
  expected_path_ = track.path();
  expected_patterns_ = current;
}

}  // namespace workloads
