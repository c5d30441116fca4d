// fairgv bench launch: one-way launches per second and the latency of a launch with its clFinish, through
// FairGV beside the same program on the driver alone, in pairs.
#include <fmt/core.h>

#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/command_line.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench::launch_experiment {
namespace {

using namespace harness;

struct Figures {
  std::vector<double> launches_per_s, enqueue_us, finish_us;
};

Result<void> measure(const CommandLine& one_way, const CommandLine& finish, Figures& into) {
  FAIRGV_TRY(first, run_measured(one_way));
  FAIRGV_TRY(second, run_measured(finish));
  into.launches_per_s.push_back(first.value()["launches_per_s"]);
  into.enqueue_us.push_back(first.value()["enqueue_us"]);
  into.finish_us.push_back(second.value()["finish_us"]);
  return {};
}

/// Prints it, and returns it as a row of the CSV.
std::string print_row(const char* what, const std::vector<double>& bare_values,
                      const std::vector<double>& ours) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / bare_values[i]);
  fmt::print("{:<34} {:>12.2f} {:>12.2f} {:>10.2f}\n", what, median(bare_values), median(ours),
             median(ratios));
  return fmt::format("{},{:.3f},{:.3f},{:.4f}", csv_cell(what), median(bare_values), median(ours),
                     median(ratios));
}

Result<void> run_benchmark(int pairs, int count, const Output& output) {
  FAIRGV_TRY(tenancy, Tenancy::start());
  const std::string probe = beside("fairgv-probe-launch");
  const std::vector<std::string> one_way{probe, "one-way", std::to_string(count)};
  const std::vector<std::string> finish{probe, "finish", std::to_string(count / 10)};
  Figures alone, ours;
  for (int pair = 0; pair < pairs; ++pair) {
    if (auto done = measure(bare(one_way), bare(finish), alone); !done) return done;
    if (auto done = measure(tenancy->tenant("bench", 1, one_way), tenancy->tenant("bench", 1, finish), ours);
        !done) {
      return done;
    }
  }
  fmt::print("{:<34} {:>12} {:>12} {:>10}\n", fmt::format("medians of {} pairs", pairs), "driver", "FairGV",
             "ratio");
  return write_csv(output, 0, "what,driver,fairgv,ratio",
                   {print_row("one-way launches per second", alone.launches_per_s, ours.launches_per_s),
                    print_row("cost of one enqueue, us", alone.enqueue_us, ours.enqueue_us),
                    print_row("launch and finish, us", alone.finish_us, ours.finish_us)});
}

int run(int argc, char** argv) {
  CLI::App app{"Launch rate and launch latency beside the driver alone", "fairgv bench launch"};
  int pairs = 5;
  int count = 20'000;
  app.add_option("--pairs", pairs, "Pairs of runs")->check(CLI::Range(1, 1'000));
  app.add_option("--count", count, "Launches per run (a tenth of it with finish)")
      ->check(CLI::Range(100, 10'000'000));
  Output output;
  declare_csv(app, output);
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  return exit_code(app, run_benchmark(pairs, count, output));
}

const Registration registration{"launch", run};

}  // namespace
}  // namespace fairgv::bench::launch_experiment
