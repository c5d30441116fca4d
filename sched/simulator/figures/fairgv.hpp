// The effects that FairGV reports of scheduling policies (section 5, figures 8 to 11), in the simulator.
//
// - Figures 8 and 9: clients pinned to the host's processors, all running the same program: three with
//   weights 1:2:3 on one processor, and six with weights 1:2:2:3:3:4 in pairs on three. Their weights on
//   the host are the same. Completion times are relative to what the weights promise of the device alone;
//   the Min-Max Ratio and the aggregated overhead are those of section 5.4.1.
// - Figure 10: utilisation beside a program that sleeps 50 to 80 % of its time, with and without work
//   conservation of the same policy.
// - Figure 11: run time beside kernels of 21 to 1605 us, relative to having the device alone.
//
// Chosen here:
// - Kernels have the lengths of the paper's table 3. A program that is CPU-GPU interactive waits for every
//   kernel, and works on the host for 20 us (BlackScholes) or 5 us (srad_v1, whose calls are far smaller).
//   The others never wait.
// - A change of threads on a processor costs 5 us. Clients of Credit-poll and of Strict coscheduling poll.
//   Those of Credit-hs and FairGV yield the processor, and their workers wait for 100 us before they give
//   the device away ("spinning 100K times", section 3.2.2).
// - In figure 10 the program sleeps after every kernel. In figure 11 a driver's queue holds 64 commands.
// - FairGV is `fair-paper`, and without work conservation `fair-paper-idle`. Slices are the paper's 6 ms.
//
// In figure 8 the Min-Max Ratio of `fair-paper` with interactive programs is 0.98 to 0.99. A program that
// has just paused when its turn ends wakes with S = V and loses what it was owed, which the paper's
// prototype may hide by the spinning of its workers.
//
// Left out: the Min-Max Ratio of Credit-hs with srad_v1 in figure 9. It falls because the host's switches
// burden some virtual machines more than others; here they burden all alike, and only the overhead shows
// them.
#pragma once

#include <vector>

#include "sched/simulator/figures/figure.hpp"

namespace fairgv::sched {

/// The same run gives the same rows.
std::vector<FigureRow> fairgv_figures(const FigureRun& run);

}  // namespace fairgv::sched
