#include "tests/bench/support/load/mean_kernel.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/scratch_file.hpp"
#include "tests/harness/executions.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;
using std::chrono::nanoseconds;

std::vector<std::string> profiled(const KernelSource& source, unsigned kernels, const ScratchFile& events) {
  std::vector<std::string> command = source.command;
  const unsigned rounds = std::max(1U, kernels / source.per_round);
  // Checking the results would be charged, too, and leave no events.
  command.insert(command.end(),
                 {"--warmup", "0", "--repetitions", std::to_string(rounds), "--sync", "batch", "--batch",
                  std::to_string(2 * kernels), "--verify", "off", "--events", events.path()});
  return command;
}

/// The workload's own result.
Result<nlohmann::json> run_unchecked(const CommandLine& command, const KernelSource& source) {
  FAIRGV_TRY(finished, run(command));
  nlohmann::json result = finished->lines.empty() ? nullptr : parse_line(finished->lines.back());
  if (finished->status == 0 && result.is_object()) return result;
  return Error{fmt::format("{} failed with status {}", source.command.front(), finished->status)};
}

MeanKernel mean_of(double charged_us, const std::vector<Execution>& executions, nanoseconds gap) {
  const auto each = [&](nanoseconds all) {
    return std::chrono::duration<double, std::micro>(all).count() / static_cast<double>(executions.size());
  };
  return {charged_us / static_cast<double>(executions.size()), each(summed(executions)),
          each(spanned(executions, gap))};
}

struct Books {
  double charged_us = 0;
  std::uint64_t launches = 0;
  std::uint64_t commands = 0;  // launches among them
  std::uint64_t samples = 0;
};

Result<Books> books(const Tenancy& tenancy, const std::string& name) {
  FAIRGV_TRY(report, look_at(tenancy));
  FAIRGV_TRY(tenant, tenant_in(report.value(), name));
  return Books{1e6 * charged_seconds(tenant.value()), tenant.value()["launches"], tenant.value()["commands"],
               tenant.value()["samples"]};
}

}  // namespace

Result<MeanKernel> mean_bare(const Placement& placement, const KernelSource& source, unsigned kernels,
                             nanoseconds gap) {
  const ScratchFile events(".events");
  FAIRGV_TRY(result, run_unchecked(bare(profiled(source, kernels, events), placement), source));
  FAIRGV_TRY(executions, read_executions(events.path()));
  return mean_of(1e6 * result.value()["seconds"].get<double>(), executions.value(), gap);
}

Result<MeanKernel> mean_charged(const Tenancy& tenancy, const std::string& tenant, const KernelSource& source,
                                unsigned kernels, nanoseconds gap) {
  const ScratchFile events(".events");
  FAIRGV_TRY(before, books(tenancy, tenant));
  FAIRGV_TRY(result, run_unchecked(tenancy.tenant(tenant, 1, profiled(source, kernels, events)), source));
  FAIRGV_TRY(after, books(tenancy, tenant));
  FAIRGV_TRY(executions, read_executions(events.path()));
  const std::uint64_t launches = after->launches - before->launches;
  const std::uint64_t commands = after->commands - before->commands;
  if (launches != executions->size() || commands > launches + source.copies) {
    return Error{fmt::format("{} ran {} kernels, but the daemon counted {}, among {} commands",
                             source.command.front(), executions->size(), launches, commands)};
  }
  MeanKernel mean = mean_of(after->charged_us - before->charged_us, executions.value(), gap);
  mean.sampled = 1e3 * static_cast<double>(after->samples - before->samples) / static_cast<double>(launches);
  return mean;
}

}  // namespace fairgv::bench
