// gOver's evaluation in the simulator (figures 5 to 9 and section 4.4): programs in the manner of glxgears,
// glmark2 and plot3D under fixed caps, under gVirt's equal caps, under static oversubscription, and under the
// controller of sched/oversell/.
//
// Chosen here: the programs (gover_programs.hpp); that under gOver customers come every 2 s, and buy as large
// a cap as their target needs in their heaviest scene (section 3.3: the initial cap is "a pessimistic
// expectation"), except for the first two, which have half of the device each as in section 4.3.1; and that
// averages are over several draws of random programs, the same draws for all systems.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/simulator/figures/figure.hpp"

namespace fairgv::sched {

/// One row per effect. The same seed gives the same rows. draws: of random programs, best a
/// multiple of three.
std::vector<FigureRow> gover_figures(std::uint64_t seed, std::size_t draws = 6);
/// The row of section 4.4 alone, for many seeds.
FigureRow gover_tenants(std::uint64_t seed, std::size_t draws = 6);

}  // namespace fairgv::sched
