#include "tests/bench/support/load/calibrated_loop.hpp"

#include <algorithm>

#include "sched/policy.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench {

Result<CalibratedLoop> calibrate_loop(int kernel_us, const std::string& seconds,
                                      const harness::Placement& placement, Api api) {
  FAIRGV_TRY(probe, harness::run_measured(
                        harness::bare({harness::beside("workloads/" + workload_of(api, "computeLoop")),
                                       "--kernel-us", std::to_string(kernel_us), "--seconds", seconds},
                                      placement)));
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

void declare_size(CLI::App& app, int& kernel_us, const std::string& name) {
  app.add_option(name, kernel_us,
                 "Problems so large that a workload's launches take about so long on the driver alone, for "
                 "devices much faster than a core; 0: as each is by itself")
      ->check(CLI::Range(0, 1'000'000));
}

Result<std::vector<std::string>> sized(const std::string& workload, int kernel_us,
                                       const harness::Placement& placement) {
  std::vector<std::string> program{harness::beside("workloads/" + workload)};
  if (kernel_us == 0) return program;
  std::vector<std::string> probe = program;
  probe.insert(probe.end(), {"--kernel-us", std::to_string(kernel_us), "--seconds", "0.1"});
  FAIRGV_TRY(probed, harness::run_measured(harness::bare(std::move(probe), placement)));
  const char* const what = probed->contains("iterations") ? "iterations" : "size";
  for (const char* name : {what, "batch"}) {
    program.insert(program.end(),
                   {std::string("--") + name, std::to_string(probed.value()[name].get<std::uint64_t>())});
  }
  return program;
}

}  // namespace fairgv::bench
