// The effects that Pegasus reports of its policies (section 6.3, figures 3 to 9), in the simulator.
//
// The set-up is the paper's as far as a simulator has it: guests with one processor each, pinned in pairs, so
// that two guests share a processor and a GPU; Xen's credits on the processors; ticks of 10 ms, Xen's timer
// interval. Pairs have nothing in common, so each is simulated by itself. Programs poll while they wait for
// the GPU, as those of CUDA 1.1 do.
//
// Chosen here, because the paper does not have it:
// - "None" is `fifo`: one command each. What the driver makes of that is a cost for every command that follows
//   one of another guest, 400 us. With it two guests lose about as much without scheduling as in figure 4.
// - BlackScholes sends 64 kernels of 300 us and waits for them, and then works on the host for 0.3 ms. Other
//   programs differ in the length and number of their kernels, and in the work between.
//
// Left out:
// - Figure 3 (a) and (b), the cost of virtualisation: there is none in a simulator. `fairgv bench overhead`
//   measures it.
// - Table 2, the cost of a call of the scheduler: that is a measurement, and left to the benchmark of decisions
//   (tests/bench/micro/sched_decision.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "sched/simulator/figures/figure.hpp"

namespace fairgv::sched {

std::vector<FigureRow> pegasus_figures(std::uint64_t seed);

}  // namespace fairgv::sched
