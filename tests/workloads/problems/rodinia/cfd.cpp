#include "tests/workloads/problems/rodinia/cfd.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/workloads/support/verify.hpp"

namespace workloads {
namespace {

constexpr std::size_t kFaces = CfdMesh::kFaces;
constexpr std::size_t kVariables = CfdProblem::kVariables;

struct Point {
  float x = 0;
  float y = 0;
};

/// By their numbers, anticlockwise.
using Triangle = std::array<std::uint32_t, kFaces>;

/// The corners of the small squares, row by row; those within are moved a little.
std::vector<Point> uneven_corners(std::size_t side, std::mt19937_64& generator) {
  std::uniform_real_distribution<float> uniform(-0.2F, 0.2F);
  std::vector<Point> corners;
  corners.reserve((side + 1) * (side + 1));
  for (std::size_t row = 0; row <= side; ++row) {
    for (std::size_t column = 0; column <= side; ++column) {
      const float along = column > 0 && column < side ? uniform(generator) : 0.0F;
      const float up = row > 0 && row < side ? uniform(generator) : 0.0F;
      corners.push_back({static_cast<float>(column) + along, static_cast<float>(row) + up});
    }
  }
  return corners;
}

/// Both halves of each small square, cut along either diagonal. Each row of squares is in random order: a
/// mesh generator, too, leaves neighbours near each other.
std::vector<Triangle> random_triangles(std::size_t side, std::mt19937_64& generator) {
  std::vector<Triangle> triangles;
  triangles.reserve(2 * side * side);
  for (std::size_t row = 0; row < side; ++row) {
    for (std::size_t column = 0; column < side; ++column) {
      const auto lower_left = static_cast<std::uint32_t>(row * (side + 1) + column);
      const std::uint32_t lower_right = lower_left + 1;
      const auto upper_left = static_cast<std::uint32_t>(lower_left + side + 1);
      const std::uint32_t upper_right = upper_left + 1;
      if (generator() % 2 == 0) {
        triangles.push_back({lower_left, lower_right, upper_right});
        triangles.push_back({lower_left, upper_right, upper_left});
      } else {
        triangles.push_back({lower_left, lower_right, upper_left});
        triangles.push_back({lower_right, upper_right, upper_left});
      }
    }
    std::shuffle(triangles.end() - static_cast<std::ptrdiff_t>(2 * side), triangles.end(), generator);
  }
  return triangles;
}

/// A side of a triangle. Two with the same corners are one face of the mesh.
struct Side {
  std::uint32_t lower = 0;
  std::uint32_t higher = 0;
  std::uint32_t slot = 0;  ///< In the lists of faces.

  bool joins(const Side& other) const { return lower == other.lower && higher == other.higher; }
};

std::vector<std::int32_t> find_neighbours(const std::vector<Triangle>& triangles, std::size_t side) {
  const std::size_t cells = triangles.size();
  std::vector<Side> sides;
  sides.reserve(kFaces * cells);
  for (std::size_t face = 0; face < kFaces; ++face) {
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const auto [lower, higher] = std::minmax(triangles[cell][face], triangles[cell][(face + 1) % kFaces]);
      sides.push_back({lower, higher, static_cast<std::uint32_t>(face * cells + cell)});
    }
  }
  std::sort(sides.begin(), sides.end(), [](const Side& one, const Side& other) {
    return one.lower != other.lower ? one.lower < other.lower : one.higher < other.higher;
  });

  std::vector<std::int32_t> neighbours(kFaces * cells);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if (i + 1 < sides.size() && sides[i].joins(sides[i + 1])) {
      neighbours[sides[i].slot] = static_cast<std::int32_t>(sides[i + 1].slot % cells);
      neighbours[sides[i + 1].slot] = static_cast<std::int32_t>(sides[i].slot % cells);
      ++i;
    } else {
      // On the edge: below and above is a wall, corners of one row; left and right it is open.
      const bool horizontal = sides[i].lower / (side + 1) == sides[i].higher / (side + 1);
      neighbours[sides[i].slot] = horizontal ? CfdMesh::kWall : CfdMesh::kFarField;
    }
  }
  return neighbours;
}

std::vector<float> outward_normals(const std::vector<Triangle>& triangles,
                                   const std::vector<Point>& corners) {
  std::vector<float> normals;
  normals.reserve(2 * kFaces * triangles.size());
  for (std::size_t face = 0; face < kFaces; ++face) {
    for (const Triangle& triangle : triangles) {
      const Point& from = corners[triangle[face]];
      const Point& to = corners[triangle[(face + 1) % kFaces]];
      normals.push_back(to.y - from.y);
      normals.push_back(from.x - to.x);
    }
  }
  return normals;
}

/// The gas far away, with every value changed by up to a twentieth.
std::vector<float> disturbed_gas(std::size_t cells, std::uint64_t seed) {
  std::vector<float> state = random_floats(kVariables * cells, 0.95F, 1.05F, seed);
  for (std::size_t i = 0; i < state.size(); ++i) state[i] *= CfdProblem::kFarField[i % kVariables];
  return state;
}

/// The same scheme on the host, in double precision.
class HostGas {
 public:
  HostGas(const CfdMesh& mesh, const std::vector<float>& start) : mesh_(mesh), state_(mesh.cells) {
    for (std::size_t i = 0; i < start.size(); ++i) state_[i / kVariables][i % kVariables] = start[i];
    std::copy(CfdProblem::kFarField.begin(), CfdProblem::kFarField.end(), far_away_.begin());
  }

  void step() {
    const std::vector<Gas> before = state_;
    std::vector<double> factors(mesh_.cells);
    for (std::size_t cell = 0; cell < mesh_.cells; ++cell) factors[cell] = step_factor(cell);
    std::vector<Gas> flows(mesh_.cells);
    for (const float stage : CfdProblem::kStages) {
      for (std::size_t cell = 0; cell < mesh_.cells; ++cell) flows[cell] = outflow(cell);
      for (std::size_t cell = 0; cell < mesh_.cells; ++cell) {
        const double factor = static_cast<double>(stage) * factors[cell];
        for (std::size_t i = 0; i < kVariables; ++i) {
          state_[cell][i] = before[cell][i] - factor * flows[cell][i];
        }
      }
    }
  }

  std::vector<double> values() const {
    std::vector<double> all;
    all.reserve(kVariables * state_.size());
    for (const Gas& gas : state_) all.insert(all.end(), gas.begin(), gas.end());
    return all;
  }

 private:
  using Gas = std::array<double, kVariables>;

  struct Normal {
    double x, y;
  };

  Normal normal(std::size_t slot) const { return {mesh_.normals[2 * slot], mesh_.normals[2 * slot + 1]}; }

  static double pressure(const Gas& gas) {
    const double moving = 0.5 * (gas[1] * gas[1] + gas[2] * gas[2]) / gas[0];
    return (static_cast<double>(CfdProblem::kHeatRatio) - 1.0) * (gas[3] - moving);
  }

  /// The volume that passes a face in a time.
  static double passing(const Gas& gas, Normal normal) {
    return (gas[1] * normal.x + gas[2] * normal.y) / gas[0];
  }

  static double wave_speed(const Gas& gas, Normal normal) {
    const double sound = std::sqrt(static_cast<double>(CfdProblem::kHeatRatio) * pressure(gas) / gas[0]);
    return std::abs(passing(gas, normal)) + sound * std::hypot(normal.x, normal.y);
  }

  static Gas flux(const Gas& gas, Normal normal) {
    const double volume = passing(gas, normal);
    const double push = pressure(gas);
    return {volume * gas[0], volume * gas[1] + push * normal.x, volume * gas[2] + push * normal.y,
            volume * (gas[3] + push)};
  }

  static Gas mirrored(const Gas& gas, Normal normal) {
    const double twice =
        2.0 * (gas[1] * normal.x + gas[2] * normal.y) / (normal.x * normal.x + normal.y * normal.y);
    return {gas[0], gas[1] - twice * normal.x, gas[2] - twice * normal.y, gas[3]};
  }

  Gas beyond(std::size_t slot, const Gas& here) const {
    const std::int32_t neighbour = mesh_.neighbours[slot];
    if (neighbour == CfdMesh::kWall) return mirrored(here, normal(slot));
    return neighbour == CfdMesh::kFarField ? far_away_ : state_[static_cast<std::size_t>(neighbour)];
  }

  double step_factor(std::size_t cell) const {
    double speeds = 0;
    for (std::size_t face = 0; face < kFaces; ++face) {
      speeds += wave_speed(state_[cell], normal(face * mesh_.cells + cell));
    }
    return static_cast<double>(CfdProblem::kCourant) / speeds;
  }

  Gas outflow(std::size_t cell) const {
    const Gas& here = state_[cell];
    Gas sum{};
    for (std::size_t face = 0; face < kFaces; ++face) {
      const std::size_t slot = face * mesh_.cells + cell;
      const Gas there = beyond(slot, here);
      const Gas from_here = flux(here, normal(slot));
      const Gas from_there = flux(there, normal(slot));
      const double fastest = std::max(wave_speed(here, normal(slot)), wave_speed(there, normal(slot)));
      for (std::size_t i = 0; i < kVariables; ++i) {
        sum[i] += 0.5 * (from_here[i] + from_there[i] - fastest * (there[i] - here[i]));
      }
    }
    return sum;
  }

  const CfdMesh& mesh_;
  std::vector<Gas> state_;
  Gas far_away_{};
};

}  // namespace

const Description kCfd = {
    .name = "cfd",
    .unit = "Mcell/s",
    .size_meaning = "squares along a side of the mesh, each of two triangles",
    .default_size = 112,
    .maximum_size = 2048,
    .cost_exponent = 2.0,
    .default_sync = SyncMode::kEvery,
    .default_batch = CfdProblem::kSteps * (1 + 2 * CfdProblem::kStages.size()),
};

CfdMesh::CfdMesh(std::size_t side, std::uint64_t seed) : cells(2 * side * side) {
  std::mt19937_64 generator(seed);
  const std::vector<Point> corners = uneven_corners(side, generator);
  const std::vector<Triangle> triangles = random_triangles(side, generator);
  neighbours = find_neighbours(triangles, side);
  normals = outward_normals(triangles, corners);
}

CfdProblem::CfdProblem(const Parameters& parameters)
    : mesh(parameters.size, parameters.seed), start(disturbed_gas(mesh.cells, parameters.seed + 1)) {}

std::optional<std::string> CfdProblem::find_mismatch(const std::vector<float>& state) {
  if (expected_.empty()) {
    HostGas host(mesh, start);
    for (std::size_t step = 0; step < kSteps; ++step) host.step();
    expected_ = host.values();
  }
  // Two steps in single precision on values up to about 3.
  return compare("value", state, expected_, {5e-6, 5e-6});
}

}  // namespace workloads
