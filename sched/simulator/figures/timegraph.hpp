// TimeGraph's evaluation (section 6) in the simulator: figures 7 to 16, a row for each effect that the paper
// reports. The programs are those of timegraph_programs.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/simulator/figures/figure.hpp"

namespace fairgv::sched {

/// The same seed gives the same rows.
std::vector<FigureRow> timegraph_figures(std::uint64_t seed);

namespace timegraph_figure {

std::vector<FigureRow> isolation_rows(std::uint64_t seed);   // 7 to 10
std::vector<FigureRow> steadiness_rows(std::uint64_t seed);  // 11 to 13
std::vector<FigureRow> cost_rows(std::uint64_t seed);        // 14 to 16

}  // namespace timegraph_figure

}  // namespace fairgv::sched
