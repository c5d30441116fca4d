#include "tests/bench/support/sliced.hpp"

#include "tests/harness/measured.hpp"

namespace fairgv::bench {

using namespace harness;

CommandLine sliced(CommandLine command, const Slicing& slicing) {
  command.environment.emplace_back("FAIRGV_SLICE", slicing);
  return command;
}

Result<std::vector<SlicedPair>> run_sliced_pairs(const Tenancy& tenancy, const Program& program,
                                                 const Slicing& slicing, int pairs, ProgressLine& progress,
                                                 const std::string& what) {
  std::vector<SlicedPair> result;
  for (int i = 0; i < pairs; ++i) {
    SlicedPair pair;
    // Which of the two goes first changes from pair to pair, so that a drift of the machine cancels.
    for (int turn = 0; turn < 2; ++turn) {
      const bool whole = (turn + i) % 2 == 0;
      progress.step(what + (whole ? ", never sliced" : ""));
      auto run = run_measured(sliced(tenancy.tenant("bench", 1, program), whole ? kNeverSliced : slicing));
      if (!run) return run.error();
      (whole ? pair.whole : pair.sliced) = std::move(run).value();
    }
    result.push_back(std::move(pair));
  }
  return result;
}

}  // namespace fairgv::bench
