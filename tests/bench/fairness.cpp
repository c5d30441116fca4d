// fairgv bench fair3, fairgv bench fair6: fairness and overhead of every scheduling policy (FairGV,
// sections 5.4.3 and 5.4.4, figures 8 and 9). Each cell of the table is one run of `fairgv bench share`: the
// tenants run the same program, so that no share hangs on another program's baseline.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/support/command_line.hpp"
#include "tests/bench/support/output.hpp"
#include "tests/bench/support/progress_line.hpp"
#include "tests/bench/support/scratch_file.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

#if FAIRGV_TENANTS == 3
constexpr const char* kName = "fair3";
const std::vector<int> kWeights{1, 2, 3};
const std::vector<std::string> kPrograms{"matrixMul", "hotspot", "BlackScholes", "srad"};
constexpr double kPaper = 0.99;  // FairGV's Min-Max Ratio at least, figure 8
#else
constexpr const char* kName = "fair6";
const std::vector<int> kWeights{1, 2, 2, 3, 3, 4};
const std::vector<std::string> kPrograms{"BlackScholes", "srad"};
constexpr double kPaper = 0.97;  // figure 9
#endif

struct Settings {
  std::vector<std::string> policies{"fair",        "fifo",      "round-robin",
                                    "credit-poll", "credit-hs", "strict-cosched"};
  std::vector<std::string> programs = kPrograms;
  double seconds = 12;
  bool quick = false;
  unsigned device_cores = 0;
  Output output;
};

struct Cell {
  std::string policy;
  std::string program;
  double min_max_ratio = 0;
  double overhead = 0;
};

Result<Cell> measure(const std::string& policy, const std::string& program, const Settings& settings) {
  const ScratchFile json(".json");
  const CommandLine share{
      {beside("fairgv-bench-share"), "--weights", fmt::format("{}", fmt::join(kWeights, ",")), "--programs",
       program, "--policy", policy, "--seconds", fmt::format("{}", settings.seconds), "--baseline-seconds",
       settings.quick ? "0.3" : "2", "--device-cores", std::to_string(settings.device_cores), "--json",
       json.path()},
      {}};
  const auto finished = run(share);
  if (!finished) return finished.error();
  const auto result = nlohmann::json::parse(std::ifstream(json.path()), nullptr, false);
  if (finished->status != 0 || !result.is_object()) {
    return Error{fmt::format("{} under {} was not measured", program, policy)};
  }
  return Cell{policy, program, result["min_max_ratio"], result["overhead"]};
}

Result<void> write_table(const Settings& settings, const std::vector<Cell>& cells) {
  std::vector<std::string> rows;
  for (const Cell& cell : cells) {
    rows.push_back(
        fmt::format("{},{},{:.4f},{:.4f}", cell.policy, cell.program, cell.min_max_ratio, cell.overhead));
  }
  return write_csv(settings.output, settings.device_cores, "policy,program,min_max_ratio,overhead", rows);
}

/// Bars by policy, a group for each program, and the paper's value as a line.
Result<void> draw_bars(const Settings& settings, const std::vector<Cell>& cells) {
  std::string script = "$ratios << END\n";
  for (const std::string& program : settings.programs) {
    script += program;
    for (const Cell& cell : cells) {
      if (cell.program == program) script += fmt::format(" {:.4f}", cell.min_max_ratio);
    }
    script += '\n';
  }
  script += fmt::format(
      "END\nset style data histograms; set style fill solid 0.8; set yrange [0:1.05]; set grid ytics\n"
      "set ylabel 'Min-Max Ratio'; set key outside; set title '{}: weights {}'\n"
      "plot {} title 'paper, FairGV' lt rgb 'black' with lines",
      kName, fmt::join(kWeights, ":"), kPaper);
  for (std::size_t i = 0; i < settings.policies.size(); ++i) {
    script += fmt::format(", $ratios using {}:xtic(1) title '{}'", i + 2, settings.policies[i]);
  }
  return draw(settings.output, 900, 420, script + '\n');
}

Result<void> run_benchmark(const Settings& settings) {
  fmt::print("{}\n", machine(settings.device_cores));
  fmt::print(
      "Min-Max Ratio (1 = exactly by weight) and overhead; weights {}; the paper's FairGV: at least {}\n\n",
      fmt::join(kWeights, ":"), kPaper);
  fmt::print("{:<16}", "policy");
  for (const std::string& program : settings.programs) fmt::print("{:>18}", program);
  fmt::print("\n");
  ProgressLine progress(settings.policies.size() * settings.programs.size());
  std::vector<Cell> cells;
  for (const std::string& policy : settings.policies) {
    std::string row = fmt::format("{:<16}", policy);
    for (const std::string& program : settings.programs) {
      progress.step(fmt::format("{}, {}", program, policy));
      const auto cell = measure(policy, program, settings);
      if (!cell) return cell.error();
      cells.push_back(cell.value());
      row += fmt::format("{:>10.3f}{:>8.3f}", cell->min_max_ratio, cell->overhead);
    }
    progress.print_row(row);
  }
  if (auto written = write_table(settings, cells); !written) return written;
  return draw_bars(settings, cells);
}

}  // namespace
}  // namespace fairgv::bench

int main(int argc, char** argv) {
  using namespace fairgv::bench;
  CLI::App app{"Fairness and overhead of every scheduling policy, tenants of different weight",
               fmt::format("fairgv bench {}", kName)};
  Settings settings;
  app.add_option("--policies", settings.policies, "Policies to compare")->delimiter(',')->check(known_policy);
  app.add_option("--programs", settings.programs, "Workloads; all tenants run the same")
      ->delimiter(',')
      ->check(known_workload);
  auto* seconds = app.add_option("--seconds", settings.seconds, "Length of each shared window")
                      ->check(CLI::Range(1.0, 3'600.0));
  app.add_flag("--quick", settings.quick, "Short runs, to see that it works: the figures mean nothing")
      ->excludes(seconds);
  declare_device_cores(app, settings.device_cores);
  declare_output(app, settings.output);
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  if (settings.quick) settings.seconds = 1;
  return exit_code(app, run_benchmark(settings));
}
