// A compute loop whose kernels take a given time. It is calibrated once: later runs must do the same work,
// whatever the machine does meanwhile.
#pragma once

#include <cstdint>

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

}  // namespace fairgv::bench
