// fairgv bench accounting: what FairGV charges for a kernel beside what the driver's own event timestamps say
// of the same kernels (FairGV paper, table 2), alone and while a second tenant competes.
#include <fmt/core.h>

#include "tests/bench/support/company.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

constexpr const char* kTenant = "measured";

struct Program {
  std::string name;
  unsigned kernels_per_round;
};

const std::vector<Program> kPrograms{
    {"matrixMul", 1}, {"BlackScholes", 1}, {"scan", 3}, {"convolutionSeparable", 2}, {"hotspot", 8}};

/// What the daemon has charged the tenant in its life.
struct Books {
  double device_us = 0;
  double launches = 0;
};

Result<Books> books(const Tenancy& tenancy) {
  const auto report = look_at(tenancy);
  if (!report) return report.error();
  const auto tenant = tenant_in(report.value(), kTenant);
  if (!tenant) return tenant.error();
  return Books{tenant.value()["device_time_ns"][0].get<double>() / 1e3, tenant.value()["launches"]};
}

unsigned rounds_of(const Program& program, unsigned kernels) {
  return std::max(1U, kernels / program.kernels_per_round);
}

/// Wall time per kernel on the driver alone, with the queue never empty, in microseconds.
Result<double> back_to_back(const Placement& placement, const Program& program, unsigned kernels) {
  const auto result =
      run_measured(bare({beside("workloads/" + program.name), "--warmup", "0", "--sync", "stream",
                         "--repetitions", std::to_string(rounds_of(program, kernels))},
                        placement));
  if (!result) return result.error();
  return result.value()["kernel_us"].get<double>();
}

/// The mean kernel of one run, in microseconds.
struct Means {
  double events = 0;
  double charged = 0;

  double error_percent() const { return 100 * (charged / events - 1); }
};

/// A run whose kernels are nearly all profiled: they are the workload's warm-up, and its window is one round.
/// The results are not checked here, because that would be charged too.
Result<double> run_profiled(const Tenancy& tenancy, const Program& program, unsigned kernels) {
  const auto finished = run(
      tenancy.tenant(kTenant, 1,
                     {beside("workloads/" + program.name), "--warmup",
                      std::to_string(rounds_of(program, kernels)), "--repetitions", "1", "--verify", "off"}));
  if (!finished) return finished.error();
  const nlohmann::json result = finished->lines.empty() ? nullptr : parse_line(finished->lines.back());
  if (finished->status != 0 || !result.is_object() || result.value("kernel_us_source", "") != "profiled") {
    return Error{fmt::format("{} failed with status {}", program.name, finished->status)};
  }
  return result["kernel_us"].get<double>();
}

Result<Means> measure(const Tenancy& tenancy, const Program& program, unsigned kernels) {
  const auto before = books(tenancy);
  if (!before) return before.error();
  const auto events = run_profiled(tenancy, program, kernels);
  if (!events) return events.error();
  const auto after = books(tenancy);
  if (!after) return after.error();
  const double launches = after->launches - before->launches;
  if (launches < kernels / 2.0) return Error{"the daemon did not count the launches of " + program.name};
  return Means{events.value(), (after->device_us - before->device_us) / launches};
}

Result<std::vector<Means>> measure_all(const Tenancy& tenancy, unsigned kernels) {
  std::vector<Means> all;
  for (const Program& program : kPrograms) {
    const auto means = measure(tenancy, program, kernels);
    if (!means) return means.error();
    all.push_back(means.value());
  }
  return all;
}

void explain(unsigned kernels) {
  fmt::print(
      "Events: the mean of END - START, as the driver stamps about {} kernels of each program.\n"
      "FairGV: the device time charged to the tenant for the same run, over its launches.\n"
      "A turn is charged from its first launch to its last completion: the gaps between kernels, which "
      "events\n"
      "leave out, are charged too. They raise FairGV's figure, most where kernels are short. How long they "
      "are on\n"
      "the driver itself shows \"with gaps\": wall time per kernel without FairGV, the queue never "
      "empty.\n\n",
      kernels);
}

Csv print_table(const std::vector<double>& with_gaps, const std::vector<Means>& alone,
                const std::vector<Means>& contended) {
  fmt::print("{:<21} {:>9}   {:-^30}   {:-^30}\n", "", "driver,", " alone ", " beside another tenant ");
  fmt::print("{:<21} {:>9}", "mean kernel, us", "with gaps");
  for (int i = 0; i < 2; ++i) fmt::print("   {:>9} {:>9}  {:>9}", "events", "FairGV", "error");
  fmt::print("\n");
  Csv csv{
      "program,driver_with_gaps_us,alone_events_us,alone_charged_us,alone_error_percent,"
      "contended_events_us,contended_charged_us,contended_error_percent",
      {}};
  for (std::size_t i = 0; i < kPrograms.size(); ++i) {
    fmt::print("{:<21} {:>9.1f}", kPrograms[i].name, with_gaps[i]);
    std::string row = fmt::format("{},{:.3f}", kPrograms[i].name, with_gaps[i]);
    for (const Means& means : {alone[i], contended[i]}) {
      fmt::print("   {:>9.1f} {:>9.1f}  {:>7.2f} %", means.events, means.charged, means.error_percent());
      row += fmt::format(",{:.3f},{:.3f},{:.3f}", means.events, means.charged, means.error_percent());
    }
    fmt::print("\n");
    csv.rows.push_back(row);
  }
  return csv;
}

Result<Csv> run_benchmark(unsigned kernels, const Placement& placement) {
  explain(kernels);
  std::fflush(stdout);
  const auto iterations = loop_iterations(placement);
  if (!iterations) return iterations.error();
  auto tenancy = Tenancy::start(placement);
  if (!tenancy) return tenancy.error();
  // The daemon shows tenants that have sessions: this one keeps the account open between programs.
  const auto keeper = start_idle(tenancy.value(), kTenant);
  if (!keeper) return keeper.error();
  // A driver may compile at the first launch, which takes longer than thousands of kernels; PoCL keeps the
  // result for the runs that count.
  for (const Program& program : kPrograms) {
    if (auto compiled = run_profiled(tenancy.value(), program, 1); !compiled) return compiled.error();
  }
  std::vector<double> with_gaps;
  for (const Program& program : kPrograms) {
    const auto each = back_to_back(placement, program, kernels);
    if (!each) return each.error();
    with_gaps.push_back(each.value());
  }
  const auto alone = measure_all(tenancy.value(), kernels);
  if (!alone) return alone.error();
  const auto busy = start_saturating(tenancy.value(), 1, iterations.value());
  if (!busy) return busy.error();
  const auto contended = measure_all(tenancy.value(), kernels);
  if (!contended) return contended.error();
  return print_table(with_gaps, alone.value(), contended.value());
}

}  // namespace
}  // namespace fairgv::bench

int main(int argc, char** argv) {
  using namespace fairgv::bench;
  Experiment experiment("accounting", "The device time FairGV charges beside the driver's event timestamps");
  unsigned kernels = 2'000;
  auto* given = experiment.options()
                    .add_option("--kernels", kernels, "Kernels of each program and run")
                    ->check(CLI::Range(8, 100'000));
  return experiment.run(argc, argv, [&](const auto& placement) {
    if (experiment.quick() && given->empty()) kernels = 40;
    return run_benchmark(kernels, placement);
  });
}
