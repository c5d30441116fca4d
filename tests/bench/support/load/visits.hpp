// A program in short turns: by itself on the driver alone, and as a tenant beside a neighbour who is there
// only then. A machine that others use too has faster and slower seconds (hotspot's kernels took 0.6 to 1.6
// times their mean within a minute, and periods of a second differed by 7 % from those before them); turns
// this short have both sides of a ratio share them.
//
// The measurement begins in the midst of the program's work. A program that has just come waits for the end
// of the neighbour's turn first, and its last turn ends with its work. With so few turns, it would see one
// turn of the neighbour too many, or too few, always the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/base/result.hpp"
#include "tests/bench/support/load/on_request.hpp"
#include "tests/bench/support/load/rivals.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

class Visits {
 public:
  /// Starts the program on the driver alone, and as tenant1, and the neighbour as tenant2, of equal weight;
  /// on each of several devices (start_on()) so, as tenant3 and tenant4 and so on. A turn alone takes about
  /// `turn_seconds`.
  Result<void> start(const harness::Tenancy& tenancy, const harness::Placement& placement,
                     const Program& program, const Program& neighbour, double turn_seconds,
                     std::size_t devices);

  /// The seconds that the same rounds take on each device, with the waits that the program makes, after
  /// others that do not count: on the driver alone, and then beside the neighbour. All devices at once.
  Result<std::vector<double>> alone();
  Result<std::vector<double>> beside();

  /// Ends all. Their results are right.
  Result<void> end();

 private:
  Result<std::vector<double>> run(std::deque<OnRequest>& programs) const;

  // One for each device.
  std::deque<OnRequest> twins_;  // on the driver alone
  std::deque<OnRequest> tenants_;
  std::deque<OnRequest> neighbours_;
  std::uint64_t rounds_ = 0;  // of a turn
  std::uint64_t ahead_ = 0;   // that do not count, before those
  double place_ = 0;          // between the fewest and the most of them
};

}  // namespace fairgv::bench
