// fairgv bench hostile: what a program notices of a neighbour that scribbles random bytes over all that it
// shares with its worker and the daemon, session after session. In pairs: beside a tenant that does the same
// work and behaves, and beside one that does not. Both have the weight that the program has, and a second
// program that behaves and keeps the device busy: without it the tenant would leave the device to the others
// between its sessions, by another amount in each run, and the program would gain by that.
#include <fmt/core.h>

#include <csignal>

#include "tests/bench/support/company.hpp"
#include "tests/bench/support/experiment.hpp"
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

struct Run {
  double throughput = 0;
  Neighbour neighbour;
};

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
                    std::uint64_t seed, bool behave) {
  Company company;
  if (auto joined = company.join(tenancy, "neighbour", hostile_program(seed, behave)); !joined) {
    return joined.error();
  }
  if (auto joined = company.join(tenancy, "neighbour", endless_program(iterations)); !joined) {
    return joined.error();
  }
  if (auto ready = company.wait_for_output(); !ready) return ready.error();
  const auto result = run_measured(
      tenancy.tenant("measured", 1,
                     {beside("workloads/computeLoop"), "--sync", "stream", "--iterations",
                      std::to_string(iterations), "--seconds", fmt::format("{}", settings.seconds)}));
  if (!result) return result.error();
  if (auto there = company.look(); !there) return there.error();
  auto neighbour = end_of(std::move(company));
  if (!neighbour) return neighbour.error();
  return Run{result.value()["throughput"], neighbour.value()};
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
      "nothing\n\n"
      "{:>8} {:>10} {:>10} {:>8}\n",
      settings.seed, "rounds", "sessions", "ratio", "so far");
  Findings found{"pair,seed,rounds,sessions,beside_behaved,beside_hostile,ratio", {}};
  std::vector<double> ratios;
  std::uint64_t rounds = 0;
  for (int pair = 0; pair < settings.least_pairs || rounds < settings.rounds; ++pair) {
    const std::uint64_t seed = settings.seed + 1'000'000 * static_cast<std::uint64_t>(pair);
    // In turns: what comes second must not always be the same.
    const bool behaved_first = pair % 2 == 0;
    const auto first = measure(tenancy.value(), settings, iterations.value(), seed, behaved_first);
    if (!first) return first.error();
    const auto second = measure(tenancy.value(), settings, iterations.value(), seed, !behaved_first);
    if (!second) return second.error();
    const Run& behaved = behaved_first ? first.value() : second.value();
    const Run& hostile = behaved_first ? second.value() : first.value();
    rounds += hostile.neighbour.rounds;
    ratios.push_back(hostile.throughput / behaved.throughput);
    fmt::print("{:>8} {:>10} {:>10.4f} {:>8.4f}\n", hostile.neighbour.rounds, hostile.neighbour.sessions,
               ratios.back(), median(ratios));
    std::fflush(stdout);
    found.rows.push_back(fmt::format("{},{},{},{},{:.6g},{:.6g},{:.4f}", pair, seed, hostile.neighbour.rounds,
                                     hostile.neighbour.sessions, behaved.throughput, hostile.throughput,
                                     ratios.back()));
  }
  const auto after = look_at(tenancy.value());
  if (!after) return after.error();
  if (after.value()["daemon"]["pid"] != daemon.value()["daemon"]["pid"])
    return Error{"the daemon was replaced"};
  fmt::print("\n{} rounds; ratio {}; the daemon is the same, and every result was right\n", rounds,
             shown(spread_of(ratios)));
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
