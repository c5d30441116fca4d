// fairgv bench cuda-launch: the cost of a launch through both CUDA libraries, beside an OpenCL launch through
// FairGV and beside the same program on the CUDA driver alone; and the cost of calls that need no round trip.
// The programs take turns in one run, and the order changes from turn to turn.
#include <fmt/core.h>

#include <array>
#include <map>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/progress_line.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::cuda_launch_experiment {
namespace {

using namespace harness;

constexpr double kGoal = 1.5;  // a launch in CUDA over one in OpenCL, both through FairGV

struct Settings {
  int turns = 7;
  int count = 20'000;
};

/// The ways of launching.
enum Launcher : std::size_t { kOpenCl, kCuda, kDriver, kLaunchers };

/// The findings of every turn, by the name of the figure.
using Figures = std::array<std::map<std::string, std::vector<double>>, kLaunchers>;

Result<void> measure(const Tenancy& tenancy, const Placement& placement, Launcher who, const char* mode,
                     int count, Figures& into) {
  const std::vector<std::string> program{
      beside(who == kOpenCl ? "fairgv-probe-launch" : "fairgv-probe-cuda-launch"), mode,
      std::to_string(count)};
  FAIRGV_TRY(result,
             run_measured(who == kDriver ? bare(program, placement) : tenancy.tenant("bench", 1, program)));
  for (const auto& [name, value] : result.value().items()) {
    if (value.is_number()) into[who][name].push_back(value.get<double>());
  }
  return {};
}

/// Of pairs of the same turn.
Spread ratio_of(const std::vector<double>& ours, const std::vector<double>& base) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / base[i]);
  return spread_of(ratios);
}

Findings report(Figures& figures, const ProgressLine& progress) {
  Findings found{"figure,opencl_fairgv,cuda_fairgv,cuda_driver,over_opencl,lowest,highest,over_driver", {}};
  const auto row = [&](const std::string& name, const std::string& title, double scale) {
    const auto& cuda = figures[kCuda][name];
    const auto& driver = figures[kDriver][name];
    const auto& opencl = figures[kOpenCl][name];
    const Spread over_driver = ratio_of(cuda, driver);
    const bool both = !opencl.empty();
    const Spread over_opencl = both ? ratio_of(cuda, opencl) : Spread{};
    progress.print_row(fmt::format("{:<34}{:>12}{:>12.2f}{:>12.2f}{:>24}{:>22}", title,
                                   both ? fmt::format("{:.2f}", scale * median(opencl)) : "",
                                   scale * median(cuda), scale * median(driver),
                                   both ? shown(over_opencl) : "", shown(over_driver)));
    found.rows.push_back(fmt::format(
        "{},{},{:.4f},{:.4f},{},{:.4f}", name, both ? fmt::format("{:.4f}", median(opencl)) : "",
        median(cuda), median(driver),
        both
            ? fmt::format("{:.4f},{:.4f},{:.4f}", over_opencl.median, over_opencl.lowest, over_opencl.highest)
            : ",,",
        over_driver.median));
  };
  row("launches_per_s", "launches per ms, one way", 1e-3);
  row("enqueue_us", "cost of one launch, us", 1);
  row("finish_us", "launch and synchronise, us", 1);
  for (const auto& [name, values] : figures[kCuda]) {
    if (name.starts_with("cuda")) row(name, name + ", ns", 1);
  }
  return found;
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  if (!std::filesystem::exists(beside("fairgv-probe-cuda-launch"))) {
    return Error{"fairgv-probe-cuda-launch was not built: build FairGV where nvcc of CUDA 13 is"};
  }
  FAIRGV_TRY(tenancy, Tenancy::start(placement));
  fmt::print(
      "Medians of {} turns; a launch in CUDA is to cost at most {} of one in OpenCL, both through FairGV\n\n"
      "{:<34}{:>12}{:>12}{:>12}{:>24}{:>22}\n",
      settings.turns, kGoal, "", "OpenCL", "CUDA", "driver", "CUDA over OpenCL", "CUDA over driver");
  std::fflush(stdout);
  ProgressLine progress(static_cast<std::size_t>(settings.turns));
  Figures figures;
  for (int turn = 0; turn < settings.turns; ++turn) {
    progress.step(fmt::format("turn {}", turn + 1));
    for (int place = 0; place < static_cast<int>(kLaunchers); ++place) {
      const auto who = static_cast<Launcher>(static_cast<std::size_t>(turn + place) % kLaunchers);
      for (const auto& [mode, part] :
           {std::pair{"one-way", 1}, std::pair{"finish", 10}, std::pair{"calls", 1}}) {
        if (who == kOpenCl && std::string(mode) == "calls") continue;
        if (auto done = measure(tenancy.value(), placement, who, mode, settings.count / part, figures);
            !done) {
          return done.error();
        }
      }
    }
  }
  return report(figures, progress);
}

int run(int argc, char** argv) {
  Experiment experiment(
      "cuda-launch",
      "What a CUDA launch costs beside an OpenCL one through FairGV and beside the driver alone");
  Settings settings;
  experiment.setting("--turns", settings.turns, 1, "Turns of all programs")->check(CLI::Range(1, 1'000));
  experiment.setting("--count", settings.count, 100, "Launches per run (a tenth of it with synchronisation)")
      ->check(CLI::Range(100, 10'000'000));
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"cuda-launch", run};

}  // namespace
}  // namespace fairgv::bench::cuda_launch_experiment
