#include "tests/bench/support/time_in_use.hpp"

#include <fmt/core.h>

#include <deque>
#include <optional>
#include <utility>

#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/load/devices.hpp"
#include "tests/bench/support/scratch_file.hpp"
#include "tests/harness/executions.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

/// The time for all programs to start, compile and get ready. A program that is late fails.
constexpr double kReadySeconds = 3;

/// Runs all of `commands` at once: as many on each device, one device after the other.
Result<std::vector<double>> part_in_use_of(std::vector<CommandLine> commands, std::size_t devices,
                                           double seconds) {
  struct Running {
    Running(CommandLine line, std::size_t number)
        : command(std::move(line)), events(fmt::format(".{}.events", number)) {}
    CommandLine command;
    ScratchFile events;
    std::optional<Child> child{};
  };
  std::deque<Running> running;
  const double start = monotonic_seconds() + kReadySeconds;
  for (CommandLine& command : commands) {
    Running& one = running.emplace_back(std::move(command), running.size());
    auto& arguments = one.command.arguments;
    arguments.insert(arguments.end(),
                     {"--warmup", "0", "--verify", "off", "--seconds", fmt::format("{}", seconds),
                      "--start-at", fmt::format("{:.3f}", start), "--events", one.events.path()});
    FAIRGV_TRY(child, Child::start(one.command));
    one.child.emplace(std::move(child).value());
  }
  std::vector<std::vector<Execution>> of_programs;
  for (Running& one : running) {
    const int status = finish(std::move(*one.child)).status;
    if (status != 0)
      return Error{fmt::format("{} failed with status {}", one.command.arguments.front(), status)};
    FAIRGV_TRY(executions, read_executions(one.events.path()));
    of_programs.push_back(std::move(executions).value());
  }
  std::vector<double> parts;
  for (std::size_t device = 0; device < devices; ++device) {
    std::vector<Execution> all;
    for (const std::vector<Execution>& each : of_device(of_programs, device, devices)) {
      all.insert(all.end(), each.begin(), each.end());
    }
    parts.push_back(part_in_use(all));
  }
  return parts;
}

}  // namespace

Result<std::vector<double>> part_in_use_alone(const Placement& placement, const Program& program,
                                              std::size_t devices, double seconds) {
  std::vector<CommandLine> commands;
  for (std::size_t device = 0; device < devices; ++device)
    commands.push_back(bare(on_device(program, device, devices), placement));
  return part_in_use_of(std::move(commands), devices, seconds);
}

Result<std::vector<double>> part_in_use_together(const Tenancy& tenancy, const std::vector<Program>& programs,
                                                 std::size_t devices, double seconds) {
  std::vector<CommandLine> commands;
  for (const std::string& tenant : numbered("profiled", static_cast<unsigned>(devices * programs.size())))
    commands.push_back(tenancy.tenant(tenant, 1, programs[commands.size() % programs.size()]));
  return part_in_use_of(std::move(commands), devices, seconds);
}

}  // namespace fairgv::bench
