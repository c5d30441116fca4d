#include "tests/bench/support/calibrated_loop.hpp"

#include <algorithm>

#include "sched/policy.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench {

Result<CalibratedLoop> calibrate_loop(int kernel_us, const std::string& seconds,
                                      const harness::Placement& placement, Api api) {
  const auto probe =
      harness::run_measured(harness::bare({harness::beside("workloads/" + workload_of(api, "computeLoop")),
                                           "--kernel-us", std::to_string(kernel_us), "--seconds", seconds},
                                          placement));
  if (!probe) return probe.error();
  return CalibratedLoop{probe.value()["iterations"], probe.value()["batch"], probe.value()["kernel_us"]};
}

std::vector<std::string> saturating(const CalibratedLoop& loop, Api api) {
  return {harness::beside("workloads/" + workload_of(api, "computeLoop")),
          "--iterations",
          std::to_string(loop.iterations),
          "--batch",
          std::to_string(std::max<std::uint64_t>(loop.batch, sched::kDriverQueue)),
          "--sync",
          "stream"};
}

}  // namespace fairgv::bench
