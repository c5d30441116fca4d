// The effects that Pegasus reports of its policies (section 6.3, figures 3 to 9), in the simulator.
//
// The set-up is the paper's as far as a simulator has it: guests with one processor each, pinned in pairs,
// so that two guests share a processor and a GPU; Xen's credits on the processors; ticks of 10 ms, Xen's
// timer interval. Pairs have nothing in common, so each is simulated by itself. Programs poll while they
// wait for the GPU, as those of CUDA 1.1 do.
//
// Chosen here, because the paper does not have it:
// - "None" is `fifo`: one command each. What the driver makes of that is a cost for every command that
//   follows one of another guest, 400 us. With it two guests lose about as much without scheduling as in
//   figure 4.
// - BlackScholes sends 64 kernels of 300 us and waits for them, and then works on the host for 0.3 ms.
//   Other programs differ in the length and number of their kernels, and in the work between.
// - In figures 3, 8 and 9 the guests yield the processor while they wait. If both polled on one processor,
//   they would hardly ever want the GPU at the same time.
// - In figure 7 the three guests share one GPU and two processors.
//
// Left out:
// - Figure 3 (a) and (b), the cost of virtualisation: there is none in a simulator. `fairgv bench
//   overhead` measures it.
// - Table 2, the cost of a call of the scheduler: that is a measurement, and left to the benchmark of
//   decisions (tests/bench/micro/sched_decision.cpp).
// - Figures 4 and 8, the variation of latencies under None: it comes from NVIDIA's driver, and `fifo` is
//   steady.
// - Figure 6, the gain of Dom4 under XC: here its few CPU credits hold it back under XC more than under None.
// - Figure 7, that Dom2 does a little less work under AugC than under CoSched: here it is a little more.
#pragma once

#include <vector>

#include "sched/simulator/figures/figure.hpp"

namespace fairgv::sched {

/// The same run gives the same rows.
std::vector<FigureRow> pegasus_figures(const FigureRun& run);

}  // namespace fairgv::sched
