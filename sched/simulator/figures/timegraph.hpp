// TimeGraph's evaluation (section 6) in the simulator: figures 7 to 16, a row for each effect that the paper
// reports. The programs are those of timegraph_programs.hpp.
#pragma once

#include <vector>

#include "sched/simulator/figures/figure.hpp"

namespace fairgv::sched {

/// The same run gives the same rows.
std::vector<FigureRow> timegraph_figures(const FigureRun& how);

namespace timegraph_figure {

std::vector<FigureRow> isolation_rows(const FigureRun& how);   // 7 to 10
std::vector<FigureRow> steadiness_rows(const FigureRun& how);  // 11 to 13
std::vector<FigureRow> cost_rows(const FigureRun& how);        // 14 to 16

}  // namespace timegraph_figure

}  // namespace fairgv::sched
