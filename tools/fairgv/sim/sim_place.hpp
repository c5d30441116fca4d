// fairgv sim --place: simulated tenants with one session each, each on one device of several, which a
// placement chooses (sched/simulator/placement_run.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sched/simulator/simulation.hpp"

namespace fairgv::tools {

/// "best, first-fit, round-robin".
std::string placement_names();

struct PlaceOptions {
  std::vector<std::string> placements;
  std::vector<std::uint64_t> speeds;  // of the devices; none: all are equal
  bool json = false;
};

/// Runs each placement with each policy and prints how the tenants fared. Returns the command's exit status.
int place(const sched::SimulationSettings& settings, const std::vector<std::string>& policies,
          const PlaceOptions& options);

}  // namespace fairgv::tools
