// Tenants whose launches are cut otherwise than the configuration says (FAIRGV_SLICE), and what that costs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/support/progress_line.hpp"
#include "tests/bench/support/runs.hpp"

namespace fairgv::bench {

/// A value of FAIRGV_SLICE; none: as configured.
using Slicing = std::optional<std::string>;

inline const Slicing kNeverSliced = "off";

/// The command with this slicing, whatever the environment says.
harness::CommandLine sliced(harness::CommandLine command, const Slicing& slicing);

/// What a program printed of itself, with some slicing and never sliced, in two runs soon after one another.
struct SlicedPair {
  nlohmann::json sliced;
  nlohmann::json whole;

  /// Throughput never sliced over throughput sliced: above 1, slicing costs something.
  double cost() const { return whole["throughput"].get<double>() / sliced["throughput"].get<double>(); }
};

/// So many pairs of a tenant's runs; two steps of `progress` each.
Result<std::vector<SlicedPair>> run_sliced_pairs(const harness::Tenancy& tenancy, const Program& program,
                                                 const Slicing& slicing, int pairs, ProgressLine& progress,
                                                 const std::string& what);

}  // namespace fairgv::bench
