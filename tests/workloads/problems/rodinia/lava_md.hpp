#pragma once
// Potential and field of charged particles in boxes. A box is as wide as the force reaches: particles feel
// those of their own box and of the up to 26 around it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kLavaMd;

struct LavaMdProblem {
  static constexpr std::size_t kParticles = 64;  ///< In a box; a work-group has one for each.
  static constexpr std::size_t kAcross = 4;      ///< A layer has kAcross x kAcross boxes.
  static constexpr std::size_t kValues = 4;      ///< Of a particle: x, y, z and charge.
  static constexpr float kScreening = 2.0F;      ///< What is between the particles weakens the force.
  static constexpr float kSoftening = 0.1F;      ///< Keeps the force finite: the least distance that counts.

  explicit LavaMdProblem(const Parameters& parameters);

  /// Pairs of particles, each counted from both sides.
  double work() const;

  /// Of each particle the field, along x, y and z, and the potential. Where there are many boxes, some of
  /// them are compared one by one, and all forces must balance.
  std::optional<std::string> find_mismatch(const std::vector<float>& fields);

  const std::size_t layers;
  const std::size_t boxes;
  const std::vector<float> particles;  ///< kValues of each, box by box; a box is 1 wide.

 private:
  void compute_on_host();
  std::optional<std::string> find_imbalance(const std::vector<float>& fields) const;

  std::vector<std::size_t> checked_boxes_;
  std::vector<double> expected_;
};

}  // namespace workloads
