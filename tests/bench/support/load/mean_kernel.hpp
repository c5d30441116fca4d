// The mean kernel of a run by three measures: the charge of the run, and two by the driver's event timestamps
// of the same kernels.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// A workload, and how many kernels each of its rounds launches.
struct KernelSource {
  std::vector<std::string> command;
  unsigned per_round = 1;
  /// At most so many copies fill its buffers before the kernels, and are charged with them.
  unsigned copies = 0;
};

/// In microseconds.
struct MeanKernel {
  double charged = 0;  // on the driver alone, where nothing is charged: wall time of the run
  double events = 0;   // of the kernels' own durations
  double span = 0;     // with the gaps between them (harness::spanned)
  double sampled = 0;  // how many in 1,000 the worker measured one by one; no time

  double over_events() const { return 100 * (charged / events - 1); }  // per cent
  double over_span() const { return 100 * (charged / span - 1); }
  /// How much longer the device is kept for a second of kernels than there, per cent.
  double beyond(const MeanKernel& there) const {
    return 100 * ((charged / events) / (there.charged / there.events) - 1);
  }
};

/// About `kernels` launches, all queued at once, on the driver alone; `gap` as in harness::spanned. Results
/// are not checked.
Result<MeanKernel> mean_bare(const harness::Placement& placement, const KernelSource& source,
                             unsigned kernels, std::chrono::nanoseconds gap);

/// The same of a run as this tenant, which must have another session all the while. The daemon must have
/// charged for exactly the kernels that have events and for the source's copies; anything else is an Error.
Result<MeanKernel> mean_charged(const harness::Tenancy& tenancy, const std::string& tenant,
                                const KernelSource& source, unsigned kernels, std::chrono::nanoseconds gap);

}  // namespace fairgv::bench
