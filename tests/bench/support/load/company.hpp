// Tenants beside the measured one, and the daemon's figures for all of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "tests/harness/child.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {

/// Running programs, as tenants of weight 1 or on the driver alone, and destroyed with the object. Whether
/// they are there during a measurement must be checked: by look() or watch_until().
class Company {
 public:
  using Clock = std::chrono::steady_clock;

  Result<void> join(const harness::Tenancy& tenancy, const std::string& tenant,
                    const std::vector<std::string>& program);
  /// A program that is no tenant; `name` is for messages.
  Result<void> join(const std::string& name, const harness::CommandLine& program);
  /// Waits until each has printed something: both kinds of company below do once they are under way.
  Result<void> wait_for_output();
  /// An Error if one has ended. Reads and drops what they have printed, so that none waits for a reader: look
  /// every quarter of an hour if they print a line a second.
  Result<void> look();
  /// Programs that measure until SIGTERM come to their end.
  void ask_to_end() const;
  /// The program's output to its end, in the order of joining.
  std::vector<harness::Finished> finish() &&;

  /// Waits until `end`; an Error as soon as one of any company has ended before.
  static Result<void> watch_until(Clock::time_point end, std::initializer_list<Company*> all);

 private:
  struct Member {
    std::string tenant;
    harness::Child child;
  };
  std::vector<Member> members_;
};

/// The compute loop's iterations for kernels of 200 us, found on the driver alone. All tenants of an
/// experiment are given the same number, because each would find another one beside the others. Also leaves
/// the kernel in the driver's cache, so that many tenants do not compile it at once.
Result<std::uint64_t> loop_iterations(const harness::Placement& placement);

/// A compute loop that keeps its queue full for `seconds`.
std::vector<std::string> saturating_program(std::uint64_t iterations, double seconds);

/// The same until it is asked to end or destroyed, with a line a second.
std::vector<std::string> endless_program(std::uint64_t iterations);

/// Tenants busy1, busy2, ... with a saturating program that prints a line a second. All of them have made
/// progress when this returns.
Result<Company> start_saturating(const harness::Tenancy& tenancy, unsigned count, std::uint64_t iterations);

/// Programs of these tenants that have used the device once, and sleep.
Result<Company> start_idle(const harness::Tenancy& tenancy, const std::vector<std::string>& tenants);

/// The names of `count` tenants of a kind: busy1, busy2, ...
std::vector<std::string> numbered(const std::string& kind, unsigned count);

/// Waits until the tenant's program has printed something, and drops that. An Error if it ends before, or
/// does not for minutes.
Result<void> await_output(harness::Child& program, const std::string& tenant);

/// All that `fairgv ps --json` prints.
Result<nlohmann::json> look_at(const harness::Tenancy& tenancy);

/// The tenant within it; an Error if it is not there.
Result<nlohmann::json> tenant_in(const nlohmann::json& report, const std::string& tenant);

/// The charge of a tenant within the report so far, on all devices together, in seconds.
double charged_seconds(const nlohmann::json& tenant);

/// The charge of each of these tenants from one report to another, in seconds.
Result<std::vector<double>> charged_between(const nlohmann::json& before, const nlohmann::json& after,
                                            const std::vector<std::string>& tenants);

}  // namespace fairgv::bench
