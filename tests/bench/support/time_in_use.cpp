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

/// Until all have started, compiled and got ready. Who is late fails.
constexpr double kLeadSeconds = 3;

Program profiled(Program program, double seconds, double start, const ScratchFile& events) {
  program.insert(program.end(), {"--warmup", "0", "--verify", "off", "--seconds", fmt::format("{}", seconds),
                                 "--start-at", fmt::format("{:.3f}", start), "--events", events.path()});
  return program;
}

/// There is a result, though it says that nothing was verified.
Result<void> ended_well(const CommandLine& command, const Finished& finished) {
  if (finished.status == 0) return {};
  return Error{fmt::format("{} failed with status {}", command.arguments.front(), finished.status)};
}

}  // namespace

Result<double> part_in_use_alone(const Placement& placement, const Program& program, double seconds) {
  const ScratchFile events(".alone.events");
  const CommandLine command =
      bare(profiled(program, seconds, monotonic_seconds() + kLeadSeconds, events), placement);
  const auto finished = run(command);
  if (!finished) return finished.error();
  if (auto well = ended_well(command, finished.value()); !well) return well.error();
  const auto executions = read_executions(events.path());
  if (!executions) return executions.error();
  return part_in_use(executions.value());
}

Result<double> part_in_use_together(const Tenancy& tenancy, const std::vector<Program>& programs,
                                    double seconds) {
  struct Running {
    explicit Running(std::size_t number) : events(fmt::format(".{}.events", number)) {}
    ScratchFile events;
    CommandLine command{};
    std::optional<Child> child{};
  };
  std::deque<Running> running;
  const double start = monotonic_seconds() + kLeadSeconds;
  for (const Program& program : programs) {
    Running& one = running.emplace_back(running.size());
    one.command = tenancy.tenant(fmt::format("profiled{}", running.size()), 1,
                                 profiled(program, seconds, start, one.events));
    auto child = Child::start(one.command);
    if (!child) return child.error();
    one.child.emplace(std::move(child).value());
  }
  std::vector<Execution> all;
  for (Running& one : running) {
    if (auto well = ended_well(one.command, finish(std::move(*one.child))); !well) return well.error();
    const auto executions = read_executions(one.events.path());
    if (!executions) return executions.error();
    all.insert(all.end(), executions->begin(), executions->end());
  }
  return part_in_use(all);
}

}  // namespace fairgv::bench
