#pragma once
// Exclusive prefix sum of 32-bit words.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kScan;

struct ScanProblem {
  static constexpr std::size_t kGroup = 256;
  static constexpr std::size_t kBlock = 2 * kGroup;  ///< Elements that a work-group scans.
  static constexpr std::size_t kMostLevels = 4;      ///< 512^4 elements are more than --size allows.

  explicit ScanProblem(const Parameters& parameters);

  double work() const { return static_cast<double>(count) / 1e6; }

  std::optional<std::string> find_mismatch(const std::vector<std::uint32_t>& prefixes);

  const std::size_t count;
  const std::vector<std::uint32_t> input;

 private:
  std::vector<std::uint32_t> expected_;
};

}  // namespace workloads
