// fairgv bench api: the cost of one call of each of the most used entry points for the calling thread,
// through FairGV beside the driver alone, in pairs.
#include <fmt/core.h>

#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/command_line.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench::api_experiment {
namespace {

using namespace harness;

/// Nanoseconds by entry point, one value for each pair.
struct Costs {
  std::vector<double> alone, ours;
};

/// In the order in which the probe prints them.
using Table = std::vector<std::pair<std::string, Costs>>;

Result<void> add_pair(Tenancy& tenancy, const std::vector<std::string>& probe, Table& table) {
  FAIRGV_TRY(alone, run_measured(bare(probe)));
  FAIRGV_TRY(ours, run_measured(tenancy.tenant("bench", 1, probe)));
  for (auto& [name, costs] : table) {
    costs.alone.push_back(alone.value()[name]);
    costs.ours.push_back(ours.value()[name]);
  }
  return {};
}

/// The names that the probe measures.
Result<Table> names_of(const std::vector<std::string>& probe) {
  FAIRGV_TRY(finished, run(bare(probe)));
  if (finished->status != 0 || finished->lines.empty()) return Error{"the probe fails on the driver alone"};
  Table table;
  const auto line = nlohmann::ordered_json::parse(finished->lines.back(), nullptr, false);
  for (const auto& [name, value] : line.items()) {
    if (value.is_number()) table.emplace_back(name, Costs{});
  }
  return table;
}

/// Prints it, and returns the rows of the CSV.
std::vector<std::string> print(const Table& table, int pairs) {
  std::vector<std::string> rows;
  fmt::print("{:<40} {:>12} {:>12} {:>8}\n", fmt::format("ns per call, medians of {} pairs", pairs), "driver",
             "FairGV", "ratio");
  for (const auto& [name, costs] : table) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < costs.ours.size(); ++i) ratios.push_back(costs.ours[i] / costs.alone[i]);
    fmt::print("{:<40} {:>12.1f} {:>12.1f} {:>8.2f}\n", name, median(costs.alone), median(costs.ours),
               median(ratios));
    rows.push_back(fmt::format("{},{:.1f},{:.1f},{:.4f}", csv_cell(name), median(costs.alone),
                               median(costs.ours), median(ratios)));
  }
  return rows;
}

Result<void> run_benchmark(int pairs, const Output& output) {
  FAIRGV_TRY(tenancy, Tenancy::start());
  const std::vector<std::string> probe{beside("fairgv-probe-api")};
  FAIRGV_TRY(table, names_of(probe));
  for (int pair = 0; pair < pairs; ++pair) {
    if (auto done = add_pair(tenancy.value(), probe, table.value()); !done) return done;
  }
  return write_csv(output, 0, "call,driver_ns,fairgv_ns,ratio", print(table.value(), pairs));
}

int run(int argc, char** argv) {
  CLI::App app{"Cost of one call of the most used entry points beside the driver alone", "fairgv bench api"};
  int pairs = 7;
  app.add_option("--pairs", pairs, "Pairs of runs")->check(CLI::Range(1, 1'000));
  Output output;
  declare_csv(app, output);
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  return exit_code(app, run_benchmark(pairs, output));
}

const Registration registration{"api", run};

}  // namespace
}  // namespace fairgv::bench::api_experiment
