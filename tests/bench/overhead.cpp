// fairgv bench overhead: what a program that has the device for itself pays for running through FairGV. Every
// workload, and compute loops of several kernel lengths, run in pairs, bare and as the only tenant; the
// overhead is the bare throughput over the tenant's (figures 2 and 7 of the FairGV paper).
#include <fmt/core.h>

#include "tests/bench/support/calibrated_loop.hpp"
#include "tests/bench/support/command_line.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

struct Case {
  std::string name;
  std::vector<std::string> program;
  int kernel_us = 0;  // of a compute loop that is still to be calibrated
};

std::vector<Case> all_cases(const std::string& seconds, const std::vector<int>& kernel_lengths) {
  std::vector<Case> cases;
  for (const int length : kernel_lengths) {
    cases.push_back({fmt::format("computeLoop {} us", length), {beside("workloads/computeLoop")}, length});
  }
  for (const char* name :
       {"matrixMul", "BlackScholes", "hotspot", "srad", "scan", "convolutionSeparable", "histogram"}) {
    cases.push_back({name, {beside(fmt::format("workloads/{}", name))}, 0});
  }
  for (Case& each : cases) {
    each.program.insert(each.program.end(), {"--seconds", seconds});
  }
  return cases;
}

Result<void> calibrate(Case& each, const std::string& seconds, const Placement& placement) {
  if (each.kernel_us == 0) return {};
  const auto loop = calibrate_loop(each.kernel_us, seconds, placement);
  if (!loop) return loop.error();
  each.program.insert(each.program.end(), {"--iterations", std::to_string(loop->iterations)});
  return {};
}

Result<void> run_benchmark(int pairs, const std::string& seconds, const std::vector<int>& lengths,
                           const std::string& only, unsigned device_cores) {
  const auto placement = placement_of(device_cores);
  if (!placement) return placement.error();
  auto tenancy = Tenancy::start(placement.value());
  if (!tenancy) return tenancy.error();
  fmt::print("{:<24} {:>10} {:>12} {:>12} {:>9} {:>15}\n", fmt::format("{} pairs of {} s", pairs, seconds),
             "kernel us", "driver", "FairGV", "overhead", "lowest-highest");
  std::vector<double> overheads;
  for (Case& each : all_cases(seconds, lengths)) {
    if (!only.empty() && each.name.find(only) == std::string::npos) continue;
    if (auto done = calibrate(each, seconds, placement.value()); !done) return done;
    std::vector<double> alone, ours, ratios, kernel;
    for (int pair = 0; pair < pairs; ++pair) {
      // Which of the two goes first changes from pair to pair, so that a drift of the machine cancels.
      nlohmann::json results[2];
      for (int turn = 0; turn < 2; ++turn) {
        const int which = (turn + pair) % 2;
        auto result = run_measured(which == 0 ? bare(each.program, placement.value())
                                              : tenancy->tenant("bench", 1, each.program));
        if (!result) return result.error();
        results[which] = std::move(result).value();
      }
      alone.push_back(results[0]["throughput"]);
      ours.push_back(results[1]["throughput"]);
      kernel.push_back(results[0].value("kernel_us", 0.0));
      ratios.push_back(alone.back() / ours.back());
    }
    overheads.push_back(median(ratios));
    fmt::print("{:<24} {:>10.0f} {:>12.4g} {:>12.4g} {:>9.3f} {:>8.3f}-{:.3f}\n", each.name, median(kernel),
               median(alone), median(ours), median(ratios), smallest(ratios), largest(ratios));
    std::fflush(stdout);
  }
  if (overheads.empty()) return Error{"no case is called '" + only + "'"};
  double sum = 0;
  for (const double overhead : overheads) sum += overhead;
  fmt::print("worst {:.3f}, mean {:.3f}\n", largest(overheads), sum / static_cast<double>(overheads.size()));
  return {};
}

}  // namespace
}  // namespace fairgv::bench

int main(int argc, char** argv) {
  CLI::App app{"Standalone overhead: each workload through FairGV beside the driver alone",
               "fairgv bench overhead"};
  int pairs = 5;
  double seconds = 1.0;
  std::vector<int> lengths{100, 200, 500, 1'000};
  std::string only;
  app.add_option("--pairs", pairs, "Pairs of runs per case")->check(CLI::Range(1, 1'000));
  app.add_option("--seconds", seconds, "Length of a run")->check(CLI::Range(0.1, 600.0));
  app.add_option("--kernel-us", lengths, "Kernel lengths of the compute loop, in microseconds")
      ->delimiter(',');
  unsigned device_cores = 0;
  fairgv::bench::declare_device_cores(app, device_cores);
  app.add_option("--only", only, "Only cases whose name contains this");
  if (const auto code = fairgv::bench::parse_command_line(app, argc, argv)) return *code;
  return fairgv::bench::exit_code(
      app, fairgv::bench::run_benchmark(pairs, fmt::format("{}", seconds), lengths, only, device_cores));
}
