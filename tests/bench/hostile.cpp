// fairgv bench hostile: what a program notices of a neighbour that scribbles random bytes over all that it
// shares with its worker and the daemon, session after session. In pairs: beside a tenant that does the same
// work and behaves, and beside one that does not. Both have the weight that the program has, and a second
// program that behaves and keeps the device busy: without it the tenant would leave the device to the others
// between its sessions, by another amount in each run, and the program would gain by that.
#include <fmt/core.h>

#include <csignal>

#include "tests/bench/support/company.hpp"
#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/output.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

/// A daemon ends sessions that scribble. The one that behaves ends its own as soon: what is compared is the
/// scribbling, and not how long each of them leaves the device to the others. (10,366 rounds, about 11 ms
/// each, took 491 sessions.)
constexpr const char* kSession = "0.23";

struct Settings {
  std::uint64_t rounds = 10'000;
  std::uint64_t seed = 1;
  double seconds = 10;  // of each run
  int least_pairs = 3;
};

/// What the neighbours of one run have done.
struct Neighbour {
  std::uint64_t rounds = 0;
  std::uint64_t sessions = 0;
};

/// What the daemon has charged the two tenants while the program ran, in seconds of the device.
struct Charged {
  double program = 0;
  double neighbour = 0;
  double program_share() const { return program / (program + neighbour); }
};

struct Run {
  double throughput = 0;
  Charged charged;
  Neighbour neighbour;
};

/// Brings `known`, what both were charged since the daemon began, up to date. Of a tenant that has no program
/// at the moment nothing is told.
Result<void> look_into_books(const Tenancy& tenancy, Charged& known) {
  const auto report = look_at(tenancy);
  if (!report) return report.error();
  if (const auto tenant = tenant_in(report.value(), "measured"))
    known.program = charged_seconds(tenant.value());
  if (const auto tenant = tenant_in(report.value(), "neighbour"))
    known.neighbour = charged_seconds(tenant.value());
  return {};
}

std::vector<std::string> hostile_program(std::uint64_t seed, bool behave) {
  std::vector<std::string> program{beside("hostile"), "--rounds", "0", "--seed", std::to_string(seed)};
  if (behave) program.insert(program.end(), {"--behave", "--session-seconds", kSession});
  return program;
}

Result<Neighbour> end_of(Company company) {
  company.ask_to_end();
  const auto finished = std::move(company).finish();
  const nlohmann::json last =
      finished.front().lines.empty() ? nlohmann::json() : parse_line(finished.front().lines.back());
  if (finished.front().status != 0 || !last.is_object())
    return Error{"the neighbour did not end as it should"};
  if (finished.back().status != 0) return Error{"the neighbour's other program did not end as it should"};
  return Neighbour{last.value("rounds", std::uint64_t{0}), last.value("sessions", std::uint64_t{0})};
}

/// The program, which keeps its queue full and checks its results before and after, beside a neighbour whose
/// two programs are under way when it starts.
Result<Run> measure(const Tenancy& tenancy, const Settings& settings, std::uint64_t iterations,
                    std::uint64_t seed, bool behave, Charged& books) {
  Company company;
  if (auto joined = company.join(tenancy, "neighbour", hostile_program(seed, behave)); !joined) {
    return joined.error();
  }
  if (auto joined = company.join(tenancy, "neighbour", endless_program(iterations)); !joined) {
    return joined.error();
  }
  if (auto ready = company.wait_for_output(); !ready) return ready.error();
  if (auto looked = look_into_books(tenancy, books); !looked) return looked.error();
  const Charged before = books;
  const auto result = run_measured(
      tenancy.tenant("measured", 1,
                     {beside("workloads/computeLoop"), "--sync", "stream", "--iterations",
                      std::to_string(iterations), "--seconds", fmt::format("{}", settings.seconds)}));
  if (!result) return result.error();
  if (auto looked = look_into_books(tenancy, books); !looked) return looked.error();
  if (auto there = company.look(); !there) return there.error();
  auto neighbour = end_of(std::move(company));
  if (!neighbour) return neighbour.error();
  return Run{result.value()["throughput"],
             {books.program - before.program, books.neighbour - before.neighbour},
             neighbour.value()};
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  const auto iterations = loop_iterations(placement);
  if (!iterations) return iterations.error();
  auto tenancy = Tenancy::start(placement);
  if (!tenancy) return tenancy.error();
  const auto daemon = look_at(tenancy.value());
  if (!daemon) return daemon.error();
  fmt::print(
      "A program beside a tenant that scribbles over its segment (seeds from {} on), and beside one that\n"
      "does the same work in sessions as short and does not; ratio: of its throughputs, 1 when it notices "
      "nothing;\nshares: of the device time that both were charged\n\n"
      "{:>8} {:>10} {:>10} {:>20} {:>16}\n",
      settings.seed, "rounds", "sessions", "ratio", "so far", "shares");
  Findings found{
      "pair,seed,rounds,sessions,beside_behaved,beside_hostile,ratio,behaved_share,hostile_share,"
      "behaved_charged,hostile_charged,behaved_sessions",
      {}};
  Charged books;
  std::vector<double> ratios;
  std::uint64_t rounds = 0;
  for (int pair = 0; pair < settings.least_pairs || rounds < settings.rounds; ++pair) {
    const std::uint64_t seed = settings.seed + 1'000'000 * static_cast<std::uint64_t>(pair);
    // In turns: what comes second must not always be the same.
    const bool behaved_first = pair % 2 == 0;
    const auto first = measure(tenancy.value(), settings, iterations.value(), seed, behaved_first, books);
    if (!first) return first.error();
    const auto second = measure(tenancy.value(), settings, iterations.value(), seed, !behaved_first, books);
    if (!second) return second.error();
    const Run& behaved = behaved_first ? first.value() : second.value();
    const Run& hostile = behaved_first ? second.value() : first.value();
    rounds += hostile.neighbour.rounds;
    ratios.push_back(hostile.throughput / behaved.throughput);
    fmt::print("{:>8} {:>10} {:>10.4f} {:>20} {:>8.3f} {:>7.3f}\n", hostile.neighbour.rounds,
               hostile.neighbour.sessions, ratios.back(), shown(estimate_of(ratios)),
               behaved.charged.program_share(), hostile.charged.program_share());
    std::fflush(stdout);
    found.rows.push_back(
        fmt::format("{},{},{},{},{:.6g},{:.6g},{:.4f},{:.4f},{:.4f},{:.3f},{:.3f},{}", pair, seed,
                    hostile.neighbour.rounds, hostile.neighbour.sessions, behaved.throughput,
                    hostile.throughput, ratios.back(), behaved.charged.program_share(),
                    hostile.charged.program_share(), behaved.charged.program + behaved.charged.neighbour,
                    hostile.charged.program + hostile.charged.neighbour, behaved.neighbour.sessions));
  }
  const auto after = look_at(tenancy.value());
  if (!after) return after.error();
  if (after.value()["daemon"]["pid"] != daemon.value()["daemon"]["pid"])
    return Error{"the daemon was replaced"};
  fmt::print("\n{} rounds; ratio {} ({}); the daemon is the same, and every result was right\n", rounds,
             shown(estimate_of(ratios)), shown(spread_of(ratios)));
  return found;
}

}  // namespace
}  // namespace fairgv::bench

int main(int argc, char** argv) {
  using namespace fairgv::bench;
  Experiment experiment("hostile", "What a program notices of a neighbour that scribbles over all it shares");
  Settings settings;
  experiment.setting("--rounds", settings.rounds, 200, "Rounds of scribbling, all together, at least")
      ->check(CLI::Range(1, 100'000'000));
  experiment.setting("--seconds", settings.seconds, 2, "Of each run")->check(CLI::Range(0.1, 3600.0));
  experiment.setting("--pairs", settings.least_pairs, 1, "Pairs of runs, at least")
      ->check(CLI::Range(1, 1000));
  experiment.options().add_option("--seed", settings.seed, "Of the random bytes");
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}
