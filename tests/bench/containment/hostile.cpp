// fairgv bench hostile: the effect on a program of a neighbour that scribbles random bytes over all memory
// that it shares with its worker and the daemon, session after session. On a CPU device a third of its
// sessions have kernels that play their worker's part instead (tests/hostile/deeds.hpp): they take turns and
// report nothing, read knocks away, or are killed in the midst of a kernel. The neighbour does the same work
// and behaves for a second, then misbehaves for a second, again and again in one run: the machine's speed
// changes less from one second to the next than the difference looked for, and more from minute to minute.
// Both have the weight that the program has, and the neighbour a second program that behaves and keeps the
// device busy: without it the tenant would leave the device to the program between its sessions. A phase that
// behaves begins and ends sessions as one that misbehaved did, so that the cost of beginning them is not
// compared. Kernels that compute without a turn are left to `fairgv bench storm`: the daemon charges them
// when it looks at the processors next, up to a second later, so that a phase that behaves would pay for
// them.
#include <fmt/core.h>
#include <poll.h>

#include <array>
#include <csignal>
#include <optional>

#include "tests/bench/support/experiment.hpp"
#include "tests/bench/support/load/company.hpp"
#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/text/output.hpp"
#include "tests/harness/measured.hpp"
#include "tests/harness/statistics.hpp"

namespace fairgv::bench::hostile_experiment {
namespace {

using namespace harness;

using Clock = std::chrono::steady_clock;

/// Of the begin of each phase, while its first session begins, nothing is counted.
constexpr std::chrono::milliseconds kSettle{200};
constexpr int kPairsPerRow = 10;
// It only keeps a broken system from hanging the experiment.
constexpr std::chrono::seconds kPatience{60};

struct Settings {
  std::uint64_t rounds = 10'000;
  std::uint64_t seed = 1;
  double phase_seconds = 1;
  int least_pairs = 50;
};

/// How far the program is, by its own clock.
struct Mark {
  double seconds = 0;
  double rounds = 0;
};

/// One phase of the neighbour's, and what the program did meanwhile.
struct Phase {
  bool behaves = false;
  Clock::time_point begun;
  std::optional<Mark> first, last;

  double throughput() const {
    return first && last->seconds > first->seconds
               ? (last->rounds - first->rounds) / (last->seconds - first->seconds)
               : 0;
  }
};

/// Reads both programs' lines as they come, and tells of each pair of phases.
class Observer {
 public:
  Observer(Child& program, Child& neighbour) : program_(program), neighbour_(neighbour) {}

  std::uint64_t rounds() const { return rounds_; }
  std::uint64_t rogues() const { return rogues_; }

  /// The next pair's ratio: beside the hostile neighbour over beside the behaving one.
  Result<double> next_pair() {
    std::array<Phase, 2> pair;
    for (Phase& phase : pair) {
      FAIRGV_TRY(ended, next_phase());
      phase = ended.value();
    }
    const Phase& behaved = pair[0].behaves ? pair[0] : pair[1];
    const Phase& hostile = pair[0].behaves ? pair[1] : pair[0];
    if (behaved.behaves == hostile.behaves || behaved.throughput() <= 0) {
      return Error{"the program made no progress in a phase: let them be longer (--phase-seconds)"};
    }
    return hostile.throughput() / behaved.throughput();
  }

 private:
  Result<Phase> next_phase() {
    std::optional<Phase> ended;
    const auto give_up = Clock::now() + kPatience;
    while (!ended) {
      std::array<pollfd, 2> outputs{pollfd{program_.output(), POLLIN, 0},
                                    pollfd{neighbour_.output(), POLLIN, 0}};
      ::poll(outputs.data(), outputs.size(), 1'000);
      const auto now = Clock::now();
      for (const std::string& line : program_.read_lines()) read_progress(line, now);
      for (const std::string& line : neighbour_.read_lines()) {
        if (auto phase = read_phase(line, now)) ended = phase;
      }
      if (program_.ended()) return Error{"the program ended early"};
      if (neighbour_.ended()) return Error{"the neighbour ended early"};
      if (now > give_up) return Error{"nothing is heard of the two programs"};
    }
    return *ended;
  }

  void read_progress(const std::string& line, Clock::time_point now) {
    const auto object = parse_line(line);
    if (!object.is_object() || !object.contains("elapsed_s") || !current_ || now < current_->begun + kSettle)
      return;
    const Mark mark{object["elapsed_s"].get<double>(), object["rounds"].get<double>()};
    if (!current_->first) current_->first = mark;
    current_->last = mark;
  }

  /// The phase that ends with the line, if one does.
  std::optional<Phase> read_phase(const std::string& line, Clock::time_point now) {
    const auto object = parse_line(line);
    if (!object.is_object() || !object.contains("phase")) return std::nullopt;
    rounds_ = object["rounds"].get<std::uint64_t>();
    rogues_ = object["rogues"].get<std::uint64_t>();
    return std::exchange(current_, Phase{object["behaves"].get<bool>(), now, {}, {}});
  }

  Child& program_;
  Child& neighbour_;
  std::optional<Phase> current_;
  std::uint64_t rounds_ = 0;
  std::uint64_t rogues_ = 0;  // sessions
};

Result<Child> start_neighbour(const Tenancy& tenancy, const Settings& settings) {
  CommandLine command =
      tenancy.tenant("neighbour", 1,
                     {beside("hostile"), "--rounds", "0", "--seed", std::to_string(settings.seed),
                      "--phase-seconds", fmt::format("{}", settings.phase_seconds)});
  command.environment.emplace_back("FAIRGV_LOG", "off");  // that its sessions end is no news
  return Child::start(command);
}

/// Ends it; an Error unless it says that all is well, as the program does only if its results are right.
Result<void> end_well(Child child, const std::string& who) {
  ::kill(child.pid(), SIGTERM);
  const Finished finished = finish(std::move(child));
  if (finished.status == 0) return {};
  return Error{fmt::format("{} did not end as it should: status {}", who, finished.status)};
}

Result<Findings> run_benchmark(const Settings& settings, const Placement& placement) {
  FAIRGV_TRY(iterations, loop_iterations(placement));
  FAIRGV_TRY(tenancy, Tenancy::start(placement));
  FAIRGV_TRY(daemon, look_at(tenancy.value()));
  Company company;
  if (auto joined = company.join(tenancy.value(), "neighbour", endless_program(iterations.value()));
      !joined) {
    return joined.error();
  }
  FAIRGV_CHECK(company.wait_for_output());
  FAIRGV_TRY(program,
             Child::start(tenancy.value().tenant(
                 "measured", 1,
                 {beside("workloads/computeLoop"), "--sync", "stream", "--iterations",
                  std::to_string(iterations.value()), "--seconds", "86400", "--progress-ms", "10"})));
  FAIRGV_TRY(neighbour, start_neighbour(tenancy.value(), settings));

  fmt::print(
      "A program beside a tenant that behaves for {} s and misbehaves for {} s, in turns "
      "(seeds from "
      "{} on);\nratio: of its throughputs, 1 when it notices nothing\n\n{:>8} {:>10} {:>12} {:>20}\n",
      settings.phase_seconds, settings.phase_seconds, settings.seed, "pairs", "rounds", "median",
      "ratio so far");
  Findings found{"pair,rounds,ratio", {}};
  std::vector<double> ratios;
  Observer observer(program.value(), neighbour.value());
  while (static_cast<int>(ratios.size()) < settings.least_pairs || observer.rounds() < settings.rounds) {
    FAIRGV_TRY(ratio, observer.next_pair());
    ratios.push_back(ratio.value());
    found.rows.push_back(fmt::format("{},{},{:.4f}", ratios.size(), observer.rounds(), ratio.value()));
    if (ratios.size() % kPairsPerRow == 0) {
      fmt::print("{:>8} {:>10} {:>12.4f} {:>20}\n", ratios.size(), observer.rounds(), median(ratios),
                 shown(estimate_of(ratios)));
      std::fflush(stdout);
    }
    FAIRGV_CHECK(company.look());
  }
  FAIRGV_CHECK(end_well(std::move(program).value(), "the program"));
  FAIRGV_CHECK(end_well(std::move(neighbour).value(), "the neighbour"));
  FAIRGV_TRY(after, look_at(tenancy.value()));
  if (after.value()["daemon"]["pid"] != daemon.value()["daemon"]["pid"])
    return Error{"the daemon was replaced"};
  fmt::print(
      "\n{} rounds, {} sessions whose kernels played their worker's part, {} pairs; ratio {} ({}); the "
      "daemon is the same, and every result was right\n",
      observer.rounds(), observer.rogues(), ratios.size(), shown(estimate_of(ratios)),
      shown(spread_of(ratios)));
  return found;
}

int run(int argc, char** argv) {
  Experiment experiment(
      "hostile",
      "What a program notices of a neighbour that scribbles over all it shares, and plays its worker's part");
  Settings settings;
  experiment.setting("--rounds", settings.rounds, 50, "Rounds of scribbling, all together, at least")
      ->check(CLI::Range(1, 100'000'000));
  experiment
      .setting("--phase-seconds", settings.phase_seconds, 1, "Of behaving, and of misbehaving, in turns")
      ->check(CLI::Range(0.5, 3600.0));
  experiment.setting("--pairs", settings.least_pairs, 1, "Pairs of phases, at least")
      ->check(CLI::Range(1, 100'000));
  experiment.options().add_option("--seed", settings.seed, "Of the random bytes");
  return experiment.run(argc, argv,
                        [&](const auto& placement) { return run_benchmark(settings, placement); });
}

const Registration registration{"hostile", run};

}  // namespace
}  // namespace fairgv::bench::hostile_experiment
