#pragma once
// How often each byte value occurs.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kHistogram;

struct HistogramProblem {
  static constexpr std::size_t kBins = 256;
  static constexpr std::size_t kGroups = 32;  ///< Each counts its part, a work-item for each bin.
  static constexpr std::size_t kMergeGroup = 64;

  explicit HistogramProblem(const Parameters& parameters);

  double work() const { return static_cast<double>(words * sizeof(std::uint32_t)) / 1e6; }

  std::optional<std::string> find_mismatch(const std::vector<std::uint32_t>& bins);

  const std::size_t words;
  const std::vector<std::uint32_t> data;

 private:
  std::vector<std::uint32_t> expected_;
};

}  // namespace workloads
