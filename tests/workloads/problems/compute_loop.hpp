#pragma once
// A linear congruential generator iterated for a settable number of steps in every work-item.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kComputeLoop;

struct ComputeLoopProblem {
  static constexpr std::uint32_t kMultiplier = 1664525;
  static constexpr std::uint32_t kIncrement = 1013904223;

  explicit ComputeLoopProblem(const Parameters& parameters);

  double work() const { return static_cast<double>(items) * static_cast<double>(iterations) / 1e6; }

  std::optional<std::string> find_mismatch(const std::vector<std::uint32_t>& output);

  const std::size_t items;
  const std::size_t group;
  const std::uint64_t iterations;
  const std::vector<std::uint32_t> input;

 private:
  std::vector<std::uint32_t> expected_;
};

}  // namespace workloads
