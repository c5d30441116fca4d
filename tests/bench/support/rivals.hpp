// Tenants that share the device, each with a twin: the same program on the driver alone. All of them stay
// from the first measurement to the last, so that every program is compared with itself. Equal programs
// differ, by where the system has put their memory: on the driver alone one process in six was 3 to 5 %
// slower than the others for as long as it lived (matrixMul, hotspot), which is more than what schedulers are
// compared for.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/ring/result.hpp"
#include "tests/bench/support/on_request.hpp"
#include "tests/bench/support/runs.hpp"

namespace fairgv::bench {

class Rivals {
 public:
  /// Starts all, one after the other; on tenancies with other tenants than these nothing that follows is
  /// alone. As many weights as programs.
  static Result<Rivals> start(const harness::Tenancy& tenancy, const harness::Placement& placement,
                              const std::vector<Program>& programs,
                              const std::vector<std::uint32_t>& weights);

  /// Rounds per second, in the order of the programs.
  struct Alone {
    std::vector<double> tenants;  // while no other tenant works
    std::vector<double> twins;
  };
  /// Everybody by itself, in short turns: medians of so many turns each.
  Result<Alone> take_turns(int turns);

  /// The tenants at once: rounds per second.
  Result<std::vector<double>> together(double seconds);

  /// Ends all. Their results are right.
  Result<void> end();

 private:
  Rivals() = default;
  Result<double> turn_of(OnRequest& program, std::size_t which);

  std::deque<OnRequest> tenants_;
  std::deque<OnRequest> twins_;
  std::vector<std::uint64_t> rounds_;  // of a turn
};

}  // namespace fairgv::bench
