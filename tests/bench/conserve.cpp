// fairgv bench conserve: BlackScholes, which always wants the device, beside a matrixMul that sleeps most of
// its time (FairGV, section 5.4.5, figure 10). What the one leaves a work-conserving policy gives to the
// other, so that the device is as busy as with one program alone.
#include <fmt/core.h>

#include "tests/bench/support/command_line.hpp"
#include "tests/bench/support/pairs.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

struct Settings {
  std::vector<double> sleep_ratios{0.5, 0.6, 0.7, 0.8};  // the paper's
  PairSettings pairs{.policies = {"fair", "strict-cosched"}};
};

/// What of the device is put to use: throughputs side by side, each over what its program does alone and
/// awake.
struct Cell {
  double sleep_ratio = 0;
  std::string policy;
  Spread utilisation;  // of both programs
  double busy = 0;     // the part of the one that always wants the device
  double sleepy = 0;
};

Cell cell_of(double sleep_ratio, const std::string& policy, const std::vector<Pair>& pairs) {
  std::vector<double> busy, sleepy, both;
  for (const Pair& pair : pairs) {
    busy.push_back(pair.together[0] / pair.alone[0]);
    sleepy.push_back(pair.together[1] / pair.alone[1]);
    both.push_back(busy.back() + sleepy.back());
  }
  return {sleep_ratio, policy, spread_of(both), median(busy), median(sleepy)};
}

Result<void> write_table(const Settings& settings, const std::vector<Cell>& cells) {
  std::vector<std::string> rows;
  for (const Cell& cell : cells) {
    rows.push_back(fmt::format("{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f}", cell.sleep_ratio, cell.policy,
                               cell.utilisation.median, cell.utilisation.lowest, cell.utilisation.highest,
                               cell.busy, cell.sleepy));
  }
  return write_csv(settings.pairs.output, settings.pairs.device_cores,
                   "sleep_ratio,policy,utilisation,lowest,highest,BlackScholes,matrixMul", rows);
}

/// Bars by policy, a group for each sleep ratio, and what the load allows as a line.
Result<void> draw_bars(const Settings& settings, const std::vector<Cell>& cells) {
  std::string script =
      "set style data histograms; set style histogram errorbars gap 1; set style fill solid 0.8\n"
      "set yrange [0:1.2]; set grid ytics; set key outside\n"
      "set xlabel 'of its time matrixMul sleeps (%)'; set ylabel 'device utilisation'\n";
  std::string bars;
  for (const std::string& policy : settings.pairs.policies) {
    const std::string block = fmt::format("$bars{}", script.size());
    script += block + " << END\n";
    for (const Cell& cell : cells) {
      if (cell.policy != policy) continue;
      script += fmt::format("{:g} {:.4f} {:.4f} {:.4f}\n", 100 * cell.sleep_ratio, cell.utilisation.median,
                            cell.utilisation.lowest, cell.utilisation.highest);
    }
    script += "END\n";
    bars += fmt::format(", {} using 2:3:4:xtic(1) title '{}'", block, policy);
  }
  script += "plot 1 with lines lc rgb 'black' title 'what the load allows'" + bars + '\n';
  return draw(settings.pairs.output, 720, 400, script);
}

Result<void> run_benchmark(const Settings& settings) {
  fmt::print("{}\n", machine(settings.pairs.device_cores));
  fmt::print(
      "BlackScholes beside a matrixMul that sleeps: throughputs over those alone and awake, added up; the "
      "load allows 1.0\nIn parentheses BlackScholes + matrixMul\n\n{:<12}",
      "sleep ratio");
  for (const std::string& policy : settings.pairs.policies) fmt::print("{:>36}", policy);
  fmt::print("\n");
  auto runs = PairedRuns::start(settings.pairs, settings.sleep_ratios.size(), 2);
  if (!runs) return runs.error();
  // Two batches are always queued: it waits for every launch otherwise, and leaves gaps.
  const Program busy{beside("workloads/BlackScholes"), "--sync", "stream"};
  const Program awake{beside("workloads/matrixMul")};
  std::vector<Cell> cells;
  for (const double ratio : settings.sleep_ratios) {
    Program sleepy = awake;
    sleepy.insert(sleepy.end(), {"--sleep-ratio", fmt::format("{}", ratio)});
    auto pairs = runs->measure(fmt::format("sleep ratio {}", ratio), {busy, awake}, {busy, sleepy});
    if (!pairs) return pairs.error();
    std::string row = fmt::format("{:<12}", ratio);
    for (const std::string& policy : settings.pairs.policies) {
      cells.push_back(cell_of(ratio, policy, pairs.value()[policy]));
      const Cell& cell = cells.back();
      row += fmt::format(
          "{:>36}", fmt::format("{} ({:.3f} + {:.3f})", shown(cell.utilisation), cell.busy, cell.sleepy));
    }
    runs->progress().print_row(row);
  }
  if (auto written = write_table(settings, cells); !written) return written;
  return draw_bars(settings, cells);
}

}  // namespace
}  // namespace fairgv::bench

int main(int argc, char** argv) {
  using namespace fairgv::bench;
  CLI::App app{"How busy the device is when one of two programs sleeps most of its time, by policy",
               "fairgv bench conserve"};
  Settings settings;
  app.add_option("--sleep-ratios", settings.sleep_ratios, "Parts of its time that matrixMul sleeps")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 0.95));
  declare_pairs(app, settings.pairs);
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  settle(settings.pairs);
  shorten(app, "--sleep-ratios", settings.sleep_ratios);
  return exit_code(app, run_benchmark(settings));
}
