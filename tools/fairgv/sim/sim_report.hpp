// The output of `fairgv sim`: a table for people, CSV and JSON for programs.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>

#include "sched/simulator/simulation.hpp"

namespace fairgv::tools {

/// One line per kind of tenant, over all devices, and a line that says how well the devices were used.
void print_simulation(const sched::SimulationSettings& settings, const sched::SimulationResult& result);

/// One line per device and tenant.
void write_csv_header(std::FILE* file);
void write_csv(std::FILE* file, const sched::SimulationSettings& settings,
               const sched::SimulationResult& result);

nlohmann::json to_json(const sched::SimulationSettings& settings, const sched::SimulationResult& result);

}  // namespace fairgv::tools
