#include "runtime/daemon/worker/options.hpp"

#include <chrono>

namespace fairgv::daemon {

session::WorkerOptions worker_options(const Config& config) {
  const std::chrono::duration<double, std::milli> slice = config.devices.common.slices.alone();
  session::WorkerOptions options;
  options.tuning = {.samples = config.samples,
                    .device_cores = config.device_cores,
                    .core_per_thread = config.core_per_thread,
                    .coscheduling = config.coscheduling,
                    .slicing = config.slicing.mode,
                    .slicing_floor = config.slicing.floor,
                    .never_slice = config.slicing.never,
                    .objects = config.session.objects,
                    .commands = config.session.commands};
  options.slice_ms = slice.count();
  return options;
}

}  // namespace fairgv::daemon
