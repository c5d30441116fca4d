// fairgv bench transfer: blocking reads and writes, maps, and reads and writes with a clFinish, of 4 KiB to
// 256 MiB: time and bandwidth through FairGV beside the driver alone, in pairs.
#include <fmt/core.h>

#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/command_line.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench::transfer_experiment {
namespace {

using namespace harness;

constexpr std::uint64_t kSmallest = 4096;

/// Microseconds of one operation on one size, one value for each pair.
struct Row {
  std::string operation;
  std::uint64_t bytes = 0;
  std::vector<double> alone = {}, ours = {};

  std::string name() const { return fmt::format("{} {}", operation, bytes); }
};

std::vector<Row> all_rows(std::uint64_t largest) {
  std::vector<Row> rows;
  for (const char* operation : {"read", "write", "map", "read, finish", "write, finish"}) {
    for (std::uint64_t bytes = kSmallest; bytes <= largest; bytes *= 4) rows.push_back({operation, bytes});
  }
  return rows;
}

Result<void> add_pair(Tenancy& tenancy, const std::vector<std::string>& probe, std::vector<Row>& rows) {
  FAIRGV_TRY(alone, run_measured(bare(probe)));
  FAIRGV_TRY(ours, run_measured(tenancy.tenant("bench", 1, probe)));
  for (Row& row : rows) {
    row.alone.push_back(alone.value().at(row.name()));
    row.ours.push_back(ours.value().at(row.name()));
  }
  return {};
}

/// The ratio compares speeds: 1 is the driver's, less is slower. A map moves nothing, so it has no bandwidth.
/// Returns the rows of the CSV.
std::vector<std::string> print(const std::vector<Row>& rows, int pairs) {
  std::vector<std::string> cells;
  fmt::print("{:<15} {:>9} {:>12} {:>12} {:>12} {:>12} {:>7}\n", fmt::format("{} pairs", pairs), "KiB",
             "driver us", "FairGV us", "driver GB/s", "FairGV GB/s", "ratio");
  for (const Row& row : rows) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < row.ours.size(); ++i) ratios.push_back(row.alone[i] / row.ours[i]);
    const auto bandwidth = [&](const std::vector<double>& times) {
      if (row.operation == "map") return std::string("-");
      return fmt::format("{:.2f}", static_cast<double>(row.bytes) / median(times) / 1e3);
    };
    fmt::print("{:<15} {:>9} {:>12.1f} {:>12.1f} {:>12} {:>12} {:>7.2f}\n", row.operation, row.bytes / 1024,
               median(row.alone), median(row.ours), bandwidth(row.alone), bandwidth(row.ours),
               median(ratios));
    cells.push_back(fmt::format("{},{},{:.1f},{:.1f},{:.4f}", csv_cell(row.operation), row.bytes / 1024,
                                median(row.alone), median(row.ours), median(ratios)));
  }
  return cells;
}

Result<void> run_benchmark(int pairs, std::uint64_t largest, const Output& output) {
  FAIRGV_TRY(tenancy, Tenancy::start());
  const std::vector<std::string> probe{beside("fairgv-probe-transfer"), std::to_string(largest)};
  std::vector<Row> rows = all_rows(largest);
  for (int pair = 0; pair < pairs; ++pair) {
    if (auto done = add_pair(tenancy.value(), probe, rows); !done) return done;
  }
  return write_csv(output, 0, "operation,kib,driver_us,fairgv_us,ratio", print(rows, pairs));
}

int run(int argc, char** argv) {
  CLI::App app{"Reads, writes and maps of buffers beside the driver alone", "fairgv bench transfer"};
  int pairs = 5;
  std::uint64_t largest_kib = 262'144;
  app.add_option("--pairs", pairs, "Pairs of runs")->check(CLI::Range(1, 1'000));
  app.add_option("--largest", largest_kib, "The largest transfer, in KiB")->check(CLI::Range(4, 1 << 22));
  Output output;
  declare_csv(app, output);
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  return exit_code(app, run_benchmark(pairs, largest_kib * 1024, output));
}

const Registration registration{"transfer", run};

}  // namespace
}  // namespace fairgv::bench::transfer_experiment
