// A compute loop whose kernels take a given time. It is calibrated once: later runs must do the same work,
// whatever the machine does meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/support/api.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

struct CalibratedLoop {
  std::uint64_t iterations = 0;  // for --iterations
  std::uint64_t batch = 0;       // launches of some milliseconds together, for --batch
  double kernel_us = 0;          // what its kernels took
};

/// Calibrates on the driver alone, for `seconds`.
Result<CalibratedLoop> calibrate_loop(int kernel_us, const std::string& seconds,
                                      const harness::Placement& placement, Api api = Api::kOpenCl);

/// The loop as a program that never leaves the device idle: two batches are always queued. Each fills a
/// driver's queue, however long its kernels are: schedulers by the clock give away what is in it.
std::vector<std::string> saturating(const CalibratedLoop& loop, Api api);

}  // namespace fairgv::bench
