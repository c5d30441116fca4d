#include "runtime/daemon/worker/arguments.hpp"

#include <chrono>

namespace fairgv::daemon {

std::vector<std::string> worker_arguments(const Session& session, const WorkerEnds& ends,
                                          const Config& config,
                                          const std::vector<std::string>& cuda_drivers) {
  const auto number = [](auto value) { return std::to_string(value); };
  const std::chrono::duration<double, std::milli> slice = config.devices.common.slices.alone();
  std::vector<std::string> arguments{
      "--session",   number(session.id.value),   "--segment-fd", number(session.segment->fd()),
      "--turn-fd",   number(session.turns.fd()), "--daemon-fd",  number(ends.channel),
      "--ledger-fd", number(ends.ledger),        "--knock-fd",   number(session.knock.get()),
      "--slice-ms",  number(slice.count()),      "--samples",    number(config.samples)};
  arguments.insert(arguments.end(), {"--object-limit", number(config.session.objects), "--command-limit",
                                     number(config.session.commands)});
  if (!config.device_cores.empty()) {
    arguments.insert(arguments.end(), {"--device-cores", config.device_cores});
  }
  if (config.slicing.mode != SlicingRule{}.mode) {
    arguments.insert(arguments.end(), {"--slicing", config.slicing.mode});
  }
  if (config.slicing.floor != SlicingRule{}.floor) {
    arguments.insert(arguments.end(), {"--slicing-floor", number(config.slicing.floor)});
  }
  for (const std::string& name : config.slicing.never) {
    arguments.insert(arguments.end(), {"--never-slice", name});
  }
  if (session.slicing != session::SlicingWish{}) {
    arguments.insert(arguments.end(), {"--slice", to_text(session.slicing)});
  }
  if (session.api != session::Api::opencl) {
    arguments.insert(arguments.end(), {"--api", to_text(session.api)});
  }
  for (const std::string& library : cuda_drivers) {
    arguments.insert(arguments.end(), {"--cuda-library", library});
  }
  if (!config.core_per_thread) arguments.emplace_back("--threads-anywhere");
  if (!config.coscheduling) arguments.emplace_back("--no-coscheduling");
  return arguments;
}

}  // namespace fairgv::daemon
