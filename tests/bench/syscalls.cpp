// fairgv bench syscalls: system calls of a client in its steady state. A program launches N kernels, then 3N,
// under strace; the second run's additional calls, divided by its 2N additional launches, are the cost of one
// launch.
#include <fmt/core.h>

#include <fstream>
#include <sstream>

#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/command_line.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench::syscalls_experiment {
namespace {

using namespace harness;

/// The calls column of strace -c, in total.
Result<double> count_calls(const Tenancy* tenancy, const std::string& folder, int launches) {
  const std::string table = folder + "/strace.txt";
  const std::vector<std::string> program{
      "strace", "-f", "-c", "-o", table, beside("fairgv-probe-launch"), "one-way", std::to_string(launches)};
  FAIRGV_TRY(result, run_measured(tenancy != nullptr ? tenancy->tenant("bench", 1, program) : bare(program)));
  std::ifstream file(table);
  for (std::string line; std::getline(file, line);) {
    if (!line.ends_with(" total")) continue;
    // "100.00    0.031234          12      2596        12 total": time, seconds, per call, calls.
    std::istringstream columns(line);
    double percent = 0, seconds = 0, each = 0, calls = 0;
    if (columns >> percent >> seconds >> each >> calls) return calls;
  }
  return Error{"strace wrote no total to " + table};
}

Result<void> run_benchmark(int launches, const Output& output) {
  FAIRGV_TRY(tenancy, Tenancy::start());
  const std::string folder = std::filesystem::path(tenancy->socket()).parent_path();
  fmt::print("{:<10} {:>18} {:>18} {:>14}\n", "client", fmt::format("{} launches", launches),
             fmt::format("{} launches", 3 * launches), "per launch");
  std::vector<std::string> rows;
  for (const Tenancy* through :
       {static_cast<const Tenancy*>(nullptr), static_cast<const Tenancy*>(&tenancy.value())}) {
    FAIRGV_TRY(few, count_calls(through, folder, launches));
    FAIRGV_TRY(many, count_calls(through, folder, 3 * launches));
    const char* client = through != nullptr ? "FairGV" : "driver";
    const double each = (many.value() - few.value()) / (2.0 * launches);
    fmt::print("{:<10} {:>18.0f} {:>18.0f} {:>14.5f}\n", client, few.value(), many.value(), each);
    rows.push_back(
        fmt::format("{},{},{:.0f},{:.0f},{:.5f}", client, launches, few.value(), many.value(), each));
  }
  return write_csv(output, 0, "client,launches,calls,calls_of_three_times,per_launch", rows);
}

int run(int argc, char** argv) {
  CLI::App app{"System calls per launch of a client in its steady state (strace)", "fairgv bench syscalls"};
  int launches = 20'000;
  app.add_option("--launches", launches, "Launches of the shorter run")->check(CLI::Range(100, 10'000'000));
  Output output;
  declare_csv(app, output);
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  return exit_code(app, run_benchmark(launches, output));
}

const Registration registration{"syscalls", run};

}  // namespace
}  // namespace fairgv::bench::syscalls_experiment
