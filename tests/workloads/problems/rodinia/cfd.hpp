#pragma once
// Flow of a gas without friction (the Euler equations) over an unstructured mesh of triangles, by explicit
// time steps of a finite-volume scheme.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kCfd;

/// Triangles that know each other only by number. Faces come as three lists, one for each side of the cells.
struct CfdMesh {
  static constexpr std::size_t kFaces = 3;
  static constexpr std::int32_t kWall = -1;      ///< In the place of a neighbour: nothing passes.
  static constexpr std::int32_t kFarField = -2;  ///< In the place of a neighbour: the gas far away.

  /// A square of `side` x `side` smaller ones with uneven corners, each of them two triangles, in random
  /// order.
  CfdMesh(std::size_t side, std::uint64_t seed);

  const std::size_t cells;
  std::vector<std::int32_t> neighbours;  ///< kFaces x cells.
  std::vector<float> normals;            ///< Outward and as long as the face: x and y of kFaces x cells.
};

struct CfdProblem {
  static constexpr std::size_t kGroup = 128;
  static constexpr std::size_t kSteps = 2;
  static constexpr std::size_t kVariables = 4;  ///< Density, momentum along x and y, energy; all per volume.
  /// The stages of a time step, for fluxes that are first order in space (van Leer, Tai and Powell, 1989).
  static constexpr std::array<float, 3> kStages = {0.1481F, 0.4F, 1.0F};
  static constexpr float kHeatRatio = 1.4F;
  static constexpr float kCourant = 1.0F;
  /// Mach number 0.5, slightly upwards.
  static constexpr std::array<float, kVariables> kFarField = {1.4F, 0.69F, 0.1F, 2.68F};

  explicit CfdProblem(const Parameters& parameters);

  double work() const { return static_cast<double>(mesh.cells * kSteps) / 1e6; }

  std::size_t groups() const { return (mesh.cells + kGroup - 1) / kGroup; }

  std::optional<std::string> find_mismatch(const std::vector<float>& state);

  const CfdMesh mesh;
  const std::vector<float> start;  ///< kVariables of each cell.

 private:
  std::vector<double> expected_;
};

}  // namespace workloads
