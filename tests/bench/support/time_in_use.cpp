#include "tests/bench/support/time_in_use.hpp"

#include <fmt/core.h>

#include <deque>
#include <optional>
#include <utility>

#include "tests/bench/support/scratch_file.hpp"
#include "tests/harness/executions.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

/// The time for all programs to start, compile and get ready. A program that is late fails.
constexpr double kLeadSeconds = 3;

/// Runs all of `commands` at once.
Result<double> part_in_use_of(std::vector<CommandLine> commands, double seconds) {
  struct Running {
    Running(CommandLine line, std::size_t number)
        : command(std::move(line)), events(fmt::format(".{}.events", number)) {}
    CommandLine command;
    ScratchFile events;
    std::optional<Child> child{};
  };
  std::deque<Running> running;
  const double start = monotonic_seconds() + kLeadSeconds;
  for (CommandLine& command : commands) {
    Running& one = running.emplace_back(std::move(command), running.size());
    auto& arguments = one.command.arguments;
    arguments.insert(arguments.end(),
                     {"--warmup", "0", "--verify", "off", "--seconds", fmt::format("{}", seconds),
                      "--start-at", fmt::format("{:.3f}", start), "--events", one.events.path()});
    FAIRGV_TRY(child, Child::start(one.command));
    one.child.emplace(std::move(child).value());
  }
  std::vector<Execution> all;
  for (Running& one : running) {
    const int status = finish(std::move(*one.child)).status;
    if (status != 0)
      return Error{fmt::format("{} failed with status {}", one.command.arguments.front(), status)};
    FAIRGV_TRY(executions, read_executions(one.events.path()));
    all.insert(all.end(), executions->begin(), executions->end());
  }
  return part_in_use(all);
}

}  // namespace

Result<double> part_in_use_alone(const Placement& placement, const Program& program, double seconds) {
  return part_in_use_of({bare(program, placement)}, seconds);
}

Result<double> part_in_use_together(const Tenancy& tenancy, const std::vector<Program>& programs,
                                    double seconds) {
  std::vector<CommandLine> commands;
  for (const Program& program : programs)
    commands.push_back(tenancy.tenant(fmt::format("profiled{}", commands.size() + 1), 1, program));
  return part_in_use_of(std::move(commands), seconds);
}

}  // namespace fairgv::bench
