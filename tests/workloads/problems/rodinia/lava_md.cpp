#include "tests/workloads/problems/rodinia/lava_md.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "tests/workloads/support/verify.hpp"

namespace workloads {
namespace {

constexpr std::size_t kAcross = LavaMdProblem::kAcross;
constexpr std::size_t kParticles = LavaMdProblem::kParticles;
constexpr std::size_t kValues = LavaMdProblem::kValues;
constexpr std::size_t kBoxValues = kParticles * kValues;

constexpr std::size_t kMostCheckedBoxes = 128;

using Values = std::array<double, kValues>;

/// Layers of boxes from below, in each the rows one after the other.
struct Place {
  explicit Place(std::size_t box)
      : x(box % kAcross), y(box / kAcross % kAcross), layer(box / kAcross / kAcross) {}

  bool touches(const Place& other) const {
    return near(x, other.x) && near(y, other.y) && near(layer, other.layer);
  }

  std::size_t x;
  std::size_t y;
  std::size_t layer;

 private:
  static bool near(std::size_t one, std::size_t other) { return one <= other + 1 && other <= one + 1; }
};

std::vector<float> random_particles(std::size_t boxes, std::uint64_t seed) {
  std::vector<float> particles = random_floats(boxes * kBoxValues, 0.0F, 1.0F, seed);
  for (std::size_t i = 0; i < particles.size(); i += kValues) {
    const Place place(i / kBoxValues);
    particles[i] += static_cast<float>(place.x);
    particles[i + 1] += static_cast<float>(place.y);
    particles[i + 2] += static_cast<float>(place.layer);
    particles[i + 3] += 0.1F;
  }
  return particles;
}

/// Adds what `other` does to `sum`, the field and the potential at `mine`.
void add_influence(Values& sum, const float* mine, const float* other) {
  Values to{};
  double square = std::pow(static_cast<double>(LavaMdProblem::kSoftening), 2.0);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    to[axis] = static_cast<double>(mine[axis]) - static_cast<double>(other[axis]);
    square += to[axis] * to[axis];
  }
  const double distance = std::sqrt(square);
  const auto screening = static_cast<double>(LavaMdProblem::kScreening);
  const double potential = static_cast<double>(other[3]) * std::exp(-screening * distance) / distance;
  const double strength = potential * (screening + 1.0 / distance) / distance;
  for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += strength * to[axis];
  sum[3] += potential;
}

}  // namespace

const Description kLavaMd = {
    .name = "lavaMD",
    .unit = "Mpair/s",
    .size_meaning = "layers of 4 x 4 boxes with 64 particles each",
    .default_size = 10,
    .maximum_size = 65536,
    .default_sync = SyncMode::kBatch,
    .default_batch = 1,
};

LavaMdProblem::LavaMdProblem(const Parameters& parameters)
    : layers(parameters.size),
      boxes(layers * kAcross * kAcross),
      particles(random_particles(boxes, parameters.seed)) {}

double LavaMdProblem::work() const {
  // In a row of n boxes, n touch themselves, and each of n - 1 pairs touches from both sides.
  const double touching = static_cast<double>(3 * layers - 2) * (3 * kAcross - 2) * (3 * kAcross - 2);
  return touching * static_cast<double>(kParticles * kParticles) / 1e6;
}

std::optional<std::string> LavaMdProblem::find_mismatch(const std::vector<float>& fields) {
  if (expected_.empty()) compute_on_host();
  std::vector<float> checked;
  for (const std::size_t box : checked_boxes_) {
    const auto first = fields.begin() + static_cast<std::ptrdiff_t>(box * kBoxValues);
    checked.insert(checked.end(), first, first + kBoxValues);
  }
  // Sums of up to 1,728 terms in single precision. Fields from opposite sides cancel each other.
  if (const auto mismatch = compare("checked field", checked, expected_, {2e-3, 2e-5})) return mismatch;
  return find_imbalance(fields);
}

void LavaMdProblem::compute_on_host() {
  // The first and the last box are among them.
  const std::size_t checked = std::min(boxes, kMostCheckedBoxes);
  for (std::size_t i = 0; i < checked; ++i) checked_boxes_.push_back(i * (boxes - 1) / (checked - 1));
  for (const std::size_t box : checked_boxes_) {
    std::vector<std::size_t> around;
    for (std::size_t other = 0; other < boxes; ++other) {
      if (Place(box).touches(Place(other))) around.push_back(other);
    }
    for (std::size_t particle = 0; particle < kParticles; ++particle) {
      Values sum{};
      for (const std::size_t other : around) {
        for (std::size_t influence = 0; influence < kParticles; ++influence) {
          add_influence(sum, &particles[box * kBoxValues + particle * kValues],
                        &particles[other * kBoxValues + influence * kValues]);
        }
      }
      expected_.insert(expected_.end(), sum.begin(), sum.end());
    }
  }
}

/// Two particles push each other equally: the forces, charge times field, add up to nothing.
std::optional<std::string> LavaMdProblem::find_imbalance(const std::vector<float>& fields) const {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double sum = 0;
    double sum_of_sizes = 0;
    for (std::size_t i = 0; i < fields.size(); i += kValues) {
      const double force = static_cast<double>(particles[i + 3]) * static_cast<double>(fields[i + axis]);
      sum += force;
      sum_of_sizes += std::abs(force);
    }
    // Negated, so that a NaN is no balance.
    if (std::abs(sum) <= 1e-6 * sum_of_sizes) continue;
    std::ostringstream line;
    line << "the forces along axis " << axis << " add up to " << sum << ", expected 0; their sizes to "
         << sum_of_sizes;
    return line.str();
  }
  return std::nullopt;
}

}  // namespace workloads
