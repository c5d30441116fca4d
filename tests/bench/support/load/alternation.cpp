#include "tests/bench/support/load/alternation.hpp"

#include <fmt/core.h>

#include <deque>
#include <string>

#include "tests/bench/support/load/on_request.hpp"

namespace fairgv::bench {
namespace {

using namespace harness;

/// Two that take turns.
class Couple {
 public:
  Result<void> start(const CommandLine& first, const CommandLine& second) {
    FAIRGV_CHECK(one_.start(first));
    return other_.start(second);
  }

  OnRequest& one() { return one_; }
  OnRequest& other() { return other_; }

  /// take(OnRequest&) gives the seconds of a turn.
  template <class Take>
  Result<std::vector<Turns>> take_turns(int turns, Take take) {
    std::vector<Turns> result;
    for (int turn = 0; turn < turns; ++turn) {
      Turns taken;
      for (int half = 0; half < 2; ++half) {
        const bool is_first = (turn + half) % 2 == 0;
        const Result<double> seconds = take(is_first ? one_ : other_);
        if (!seconds) return seconds.error();
        (is_first ? taken.first : taken.second) = seconds.value();
      }
      result.push_back(taken);
    }
    return result;
  }

  Result<void> end() {
    for (OnRequest* each : {&one_, &other_}) {
      FAIRGV_CHECK(each->end());
    }
    return {};
  }

 private:
  OnRequest one_{".first"};
  OnRequest other_{".second"};
};

}  // namespace

Result<std::vector<Turns>> alternate(const CommandLine& first, const CommandLine& second, double turn_seconds,
                                     int turns) {
  Couple couple;
  FAIRGV_CHECK(couple.start(first, second));
  FAIRGV_TRY(rounds, couple.one().rounds_in(turn_seconds));
  FAIRGV_CHECK(couple.other().run(rounds.value()));
  auto taken = couple.take_turns(turns, [&](OnRequest& each) { return each.run(rounds.value()); });
  if (!taken) return taken.error();
  FAIRGV_CHECK(couple.end());
  return taken;
}

Result<std::vector<Turns>> alternate_condition(const CommandLine& program, double turn_seconds, int turns,
                                               const std::function<Result<void>(bool)>& condition) {
  OnRequest worker(".one");
  FAIRGV_CHECK(worker.start(program));
  FAIRGV_TRY(rounds, worker.rounds_in(turn_seconds));
  std::vector<Turns> result;
  for (int turn = 0; turn < turns; ++turn) {
    Turns taken;
    for (int half = 0; half < 2; ++half) {
      const bool is_first = (turn + half) % 2 == 0;
      FAIRGV_CHECK(condition(is_first));
      const Result<double> seconds = worker.run(rounds.value());
      if (!seconds) return seconds.error();
      (is_first ? taken.first : taken.second) = seconds.value();
    }
    result.push_back(taken);
  }
  FAIRGV_CHECK(worker.end());
  return result;
}

Result<std::vector<Turns>> alternate_builds(const CommandLine& first, const CommandLine& second, int turns) {
  Couple couple;
  FAIRGV_CHECK(couple.start(first, second));
  // Files that the first build loads stay in memory.
  for (OnRequest* each : {&couple.one(), &couple.other()}) {
    FAIRGV_CHECK(each->build());
  }
  auto taken = couple.take_turns(turns, [](OnRequest& each) { return each.build(); });
  if (!taken) return taken.error();
  // A workload that has run no round says that nothing was asked for.
  for (OnRequest* each : {&couple.one(), &couple.other()}) {
    FAIRGV_CHECK(each->run(1));
  }
  FAIRGV_CHECK(couple.end());
  return taken;
}

Result<std::vector<InTurns>> run_in_turns(const std::vector<CommandLine>& programs, Waits waits,
                                          double turn_seconds, int turns) {
  std::deque<OnRequest> runs;
  std::vector<std::uint64_t> rounds;
  for (const CommandLine& program : programs) {
    OnRequest& run = runs.emplace_back(fmt::format(".{}", runs.size()));
    FAIRGV_CHECK(run.start(program));
    FAIRGV_TRY(of_a_turn, run.rounds_in(turn_seconds));
    rounds.push_back(of_a_turn.value());
  }
  std::vector<std::vector<double>> rounds_per_second(runs.size());
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t place = 0; place < runs.size(); ++place) {
      const std::size_t i = turn % 2 == 0 ? place : runs.size() - 1 - place;
      FAIRGV_TRY(seconds, waits == Waits::kOwn ? runs[i].run_awaited(rounds[i]) : runs[i].run(rounds[i]));
      rounds_per_second[i].push_back(static_cast<double>(rounds[i]) / seconds.value());
    }
  }
  std::vector<InTurns> all;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    FAIRGV_TRY(result, runs[i].end());
    const double work_of_a_round = result.value()["throughput"].get<double>() *
                                   result.value()["seconds"].get<double>() /
                                   result.value()["rounds"].get<double>();
    InTurns& each = all.emplace_back(InTurns{{}, std::move(result).value()});
    for (const double speed : rounds_per_second[i]) each.throughputs.push_back(speed * work_of_a_round);
  }
  return all;
}

}  // namespace fairgv::bench
