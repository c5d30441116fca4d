#include "runtime/daemon/worker/options.hpp"

#include <chrono>

namespace fairgv::daemon {

session::WorkerOptions worker_options(const Config& config) {
  const std::chrono::duration<double, std::milli> slice = config.devices.common.slices.alone();
  session::WorkerOptions options;
  options.tuning = config.tuning;
  options.slice_ms = slice.count();
  return options;
}

}  // namespace fairgv::daemon
