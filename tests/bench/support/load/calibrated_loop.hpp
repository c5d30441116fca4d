// A compute loop, or another workload, whose kernels take a given time. It is calibrated once: later runs
// must do the same work, whatever the machine does meanwhile.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/support/api.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

struct CalibratedLoop {
  std::uint64_t iterations = 0;  // for --iterations
  std::uint64_t batch = 0;       // launches of some milliseconds together, for --batch
  double kernel_us = 0;          // the time of its kernels
};

/// Calibrates on the driver alone, for `seconds`.
Result<CalibratedLoop> calibrate_loop(int kernel_us, const std::string& seconds,
                                      const harness::Placement& placement, Api api = Api::kOpenCl);

/// The loop as a program that never leaves the device idle: two batches are always queued. Each fills a
/// driver's queue, however long its kernels are: schedulers by the clock give away the queued work.
std::vector<std::string> saturating(const CalibratedLoop& loop, Api api);

/// The workload with a problem so large that a launch takes about as long on the driver alone; 0: the
/// workload's default size, which suits a CPU's core and is next to nothing on a GPU.
Result<std::vector<std::string>> sized(const std::string& workload, int kernel_us,
                                       const harness::Placement& placement);

/// Declares the option for that.
void declare_size(CLI::App& app, int& kernel_us, const std::string& name);

}  // namespace fairgv::bench
