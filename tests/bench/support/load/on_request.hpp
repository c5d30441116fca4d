// A workload that stays, and works on request (--requests): the same process, with its memory where it is, at
// different times and in different company.
#pragma once

#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "tests/bench/support/scratch_file.hpp"
#include "tests/harness/child.hpp"

namespace fairgv::bench {

class OnRequest {
 public:
  /// `suffix` tells apart the pipes of workloads that are there at the same time.
  explicit OnRequest(const std::string& suffix) : pipe_(suffix) {}

  /// `command`: a workload, without the amount of work.
  Result<void> start(harness::CommandLine command);

  /// The seconds that so many rounds take now, all of them queued at once.
  Result<double> run(std::uint64_t rounds);
  /// The same with the waits that the program makes by itself.
  Result<double> run_awaited(std::uint64_t rounds);
  /// Rounds for run_at_once().
  struct Asked {
    OnRequest* program = nullptr;
    std::uint64_t rounds = 0;
    bool awaited = true;       // as run_awaited(), else as run()
    std::uint64_t others = 0;  // that are not measured, right before awaited ones
  };
  /// The seconds that each takes while the others run theirs. A program that has done its rounds works on
  /// until all have: the last ones would have the processors for themselves.
  static Result<std::vector<double>> run_at_once(const std::vector<Asked>& all);
  /// The seconds that one clBuildProgram takes now.
  Result<double> build();
  /// As many rounds as take about so long. Also warms up.
  Result<std::uint64_t> rounds_in(double seconds);

  /// Rounds for `seconds` from second `start` of CLOCK_MONOTONIC on, in the midst of work that begins
  /// `at_work_for` seconds before, or later if the program is late; the other half waits for the end, and has
  /// the rounds per second.
  Result<void> open_window(double start, double seconds, double at_work_for);
  Result<double> close_window();

  /// Works from now on, with the waits that the program makes by itself, until halt(), which waits for what
  /// is queued and has the rounds per second. Something has been done when begin() returns.
  Result<void> begin();
  Result<double> halt();

  /// Ends the program. Returns its own final figures; its results are right.
  Result<nlohmann::json> end();

 private:
  Result<void> send(const std::string& request);
  Result<nlohmann::json> answer();
  Result<double> rounds_per_second();
  Result<double> ask(const std::string& request, const char* what, std::uint64_t count);
  Result<double> seconds_for(const char* what, std::uint64_t count);

  ScratchFile pipe_;
  harness::CommandLine command_;
  UniqueFd requests_;
  std::optional<harness::Child> child_;
  std::deque<std::string> lines_;
};

}  // namespace fairgv::bench
