// fairgv bench accounting: what FairGV charges for a kernel beside what the driver's own event timestamps say
// of the same kernels (FairGV paper, table 2), alone and while a second tenant competes.
#include <fmt/core.h>

#include <algorithm>

#include "tests/bench/support/company.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/harness/measured.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

constexpr const char* kTenant = "measured";

struct Settings {
  unsigned kernels = 2'000;  // of each program and run
  unsigned runs = 5;
};

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

/// The mean kernel of one run, in microseconds.
struct Means {
  double events = 0;
  double whole = 0;  // charged; or on the driver alone, wall time

  double more_percent() const { return 100 * (whole / events - 1); }
};

/// The driver alone, once with events and once without, the queue never empty: how much the gaps between
/// kernels are.
Result<Means> measure_bare(const Placement& placement, const Program& program, unsigned kernels) {
  const std::string rounds = std::to_string(rounds_of(program, kernels));
  const auto result =
      run_measured(bare({beside("workloads/" + program.name), "--warmup", rounds, "--repetitions", rounds,
                         "--sync", "batch", "--batch", std::to_string(2 * kernels)},
                        placement));
  if (!result) return result.error();
  const nlohmann::json& found = result.value();
  return Means{found["kernel_us"], 1e6 * found["seconds"].get<double>() / found["kernels"].get<double>()};
}

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

/// One condition, all programs. Of several runs of each the middle one counts: whatever else the machine does
/// widens the gaps of one run and not of the next.
template <typename Measure>
Result<std::vector<Means>> measure_all(unsigned runs, const Measure& measure_one) {
  std::vector<Means> all;
  for (const Program& program : kPrograms) {
    std::vector<Means> found;
    for (unsigned i = 0; i < runs; ++i) {
      const auto means = measure_one(program);
      if (!means) return means.error();
      found.push_back(means.value());
    }
    const auto middle = found.begin() + runs / 2;
    std::nth_element(found.begin(), middle, found.end(), [](const Means& one, const Means& other) {
      return one.more_percent() < other.more_percent();
    });
    all.push_back(*middle);
  }
  return all;
}

void explain(const Settings& settings) {
  fmt::print(
      "Events: the mean of END - START, as the driver stamps about {} kernels of each program.\n"
      "Charged: the device time charged to the tenant for the same run, over its launches.\n"
      "A turn is charged from its first launch to its last completion, with the gaps between kernels, which\n"
      "events leave out: they raise what is charged, most where kernels are short. What gaps there are\n"
      "without FairGV, the first columns show: wall time per kernel on the driver alone, the queue never "
      "empty.\n"
      "Of {} runs each, the middle one by error.\n\n",
      settings.kernels, settings.runs);
}

Findings print_table(const std::vector<std::vector<Means>>& conditions) {
  fmt::print("{:<21}   {:-^29}   {:-^29}   {:-^29}\n", "", " driver alone ", " the only tenant ",
             " beside another tenant ");
  constexpr const char* kColumns = "   {:>8} {:>9} {:>10}";
  fmt::print("{:<21}", "mean kernel, us");
  fmt::print(kColumns, "events", "with gaps", "gaps");
  for (int i = 0; i < 2; ++i) fmt::print(kColumns, "events", "charged", "error");
  fmt::print("\n");
  Findings csv{
      "program,bare_events_us,bare_with_gaps_us,bare_gaps_percent,alone_events_us,alone_charged_us,"
      "alone_error_percent,contended_events_us,contended_charged_us,contended_error_percent",
      {}};
  for (std::size_t i = 0; i < kPrograms.size(); ++i) {
    fmt::print("{:<21}", kPrograms[i].name);
    std::string row = kPrograms[i].name;
    for (const std::vector<Means>& condition : conditions) {
      const Means& means = condition[i];
      fmt::print("   {:>8.1f} {:>9.1f} {:>8.2f} %", means.events, means.whole, means.more_percent());
      row += fmt::format(",{:.3f},{:.3f},{:.3f}", means.events, means.whole, means.more_percent());
    }
    fmt::print("\n");
    csv.rows.push_back(row);
  }
  return csv;
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  explain(settings);
  std::fflush(stdout);
  const auto iterations = loop_iterations(placement);
  if (!iterations) return iterations.error();
  auto tenancy = Tenancy::start(placement);
  if (!tenancy) return tenancy.error();
  // The daemon shows tenants that have sessions: this one keeps the account open between programs.
  const auto keeper = start_idle(tenancy.value(), {kTenant});
  if (!keeper) return keeper.error();
  const auto on_driver = [&](const Program& program) {
    return measure_bare(placement, program, settings.kernels);
  };
  const auto as_tenant = [&](const Program& program) {
    return measure(tenancy.value(), program, settings.kernels);
  };
  const auto driver = measure_all(settings.runs, on_driver);
  if (!driver) return driver.error();
  // A driver may compile at the first launch, which takes longer than thousands of kernels and is charged;
  // PoCL keeps the result for the runs that count.
  for (const Program& program : kPrograms) {
    if (auto compiled = run_profiled(tenancy.value(), program, 1); !compiled) return compiled.error();
  }
  const auto alone = measure_all(settings.runs, as_tenant);
  if (!alone) return alone.error();
  auto busy = start_saturating(tenancy.value(), 1, iterations.value());
  if (!busy) return busy.error();
  const auto contended = measure_all(settings.runs, as_tenant);
  if (!contended) return contended.error();
  return print_table({driver.value(), alone.value(), contended.value()});
}

}  // namespace
}  // namespace fairgv::bench

int main(int argc, char** argv) {
  using namespace fairgv::bench;
  Experiment experiment("accounting", "The device time FairGV charges beside the driver's event timestamps");
  Settings settings;
  experiment.setting("--kernels", settings.kernels, 40, "Kernels of each program and run")
      ->check(CLI::Range(8, 100'000));
  experiment.setting("--runs", settings.runs, 1, "Runs of each program, of which the middle one counts")
      ->check(CLI::Range(1, 99));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}
