// `fairgv sim --figures`: the papers' figures, rebuilt in the simulator, as a table.
#pragma once

#include <string>

#include "sched/simulator/figures/figure.hpp"

namespace fairgv::tools {

/// "fairgv, timegraph, pegasus, gover": the papers whose figures there are.
std::string figure_papers();

/// Prints a line for each effect that the paper ("all": every paper) reports, with the published value beside
/// ours. Returns the exit status: 1 if any effect is not the same in sign and order, 2 for an unknown paper.
int print_figures(const std::string& paper, const sched::FigureRun& run, bool json);

}  // namespace fairgv::tools
