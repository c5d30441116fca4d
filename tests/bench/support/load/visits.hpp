// A program in short turns: by itself on the driver alone, and as a tenant beside a neighbour who is there
// only then. A machine that others use too has faster and slower seconds (hotspot's kernels took 0.6 to 1.6
// times their mean within a minute, and periods of a second differed by 7 % from those before them); turns
// this short have both sides of a ratio share them.
//
// The measurement begins in the midst of the program's work. A program that has just come waits for the end
// of the neighbour's turn first, and its last turn ends with its work. With so few turns, it would see one
// turn of the neighbour too many, or too few, always the same.
#pragma once

#include <cstdint>

#include "runtime/base/result.hpp"
#include "tests/bench/support/load/on_request.hpp"
#include "tests/bench/support/load/rivals.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

class Visits {
 public:
  /// Starts the program on the driver alone, and as tenant1, and the neighbour as tenant2, of equal weight. A
  /// turn alone takes about `turn_seconds`.
  Result<void> start(const harness::Tenancy& tenancy, const harness::Placement& placement,
                     const Program& program, const Program& neighbour, double turn_seconds);

  /// The seconds that the same rounds take, with the waits that the program makes, after others that do not
  /// count: on the driver alone, and then beside the neighbour.
  Result<double> alone();
  Result<double> beside();

  /// Ends all. Their results are right.
  Result<void> end();

 private:
  OnRequest twin_{".twin"};  // on the driver alone
  OnRequest tenant_{".tenant"};
  OnRequest neighbour_{".neighbour"};
  std::uint64_t rounds_ = 0;  // of a turn
  std::uint64_t ahead_ = 0;   // that do not count, before those
  double place_ = 0;          // between the fewest and the most of them
};

}  // namespace fairgv::bench
