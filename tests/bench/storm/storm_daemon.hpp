// The daemon as `fairgv bench storm` sees it from outside: its holdings, its log, its charges.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/support/load/holdings.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench::storm_experiment {

class StormDaemon {
 public:
  using Clock = std::chrono::steady_clock;

  /// It has served since `began`.
  StormDaemon(const harness::Tenancy& tenancy, Clock::time_point began) : tenancy_(tenancy), began_(began) {}

  /// Replaces it once, and waits until it holds nothing for any program. Returns what it holds then.
  Result<Holdings> replaced_and_idle();
  /// Replaces it, and does not wait.
  void replace() const;
  /// Waits until its holdings are so, and returns them.
  Result<Holdings> settle(const std::function<bool(const Holdings&)>& so) const;

  Result<nlohmann::json> tenant(const std::string& name) const;
  /// Tenants that are charged memory, with the amounts, as sentences.
  Result<std::vector<std::string>> memory_that_is_charged() const;

  /// The steady tenants' charges so far, and their entitlement, in seconds.
  struct Charged {
    double light = 0, heavy = 0;
    double entitled = 0;
  };
  Result<Charged> charged_to_steady() const;

  /// The charges of all tenants, by the usage store, which also has tenants that the daemon has forgotten.
  struct Books {
    double charged = 0, passed = 0;  // in seconds
    double part = 0;                 // of the time of all devices that has passed
  };
  Result<Books> books() const;

  std::uintmax_t log_bytes() const;
  /// Its lines with `what` in them, those before `from` left out.
  std::vector<std::string> log_lines(const std::string& what, std::uintmax_t from = 0) const;

 private:
  const harness::Tenancy& tenancy_;
  const Clock::time_point began_;
  pid_t pid_ = 0;
};

}  // namespace fairgv::bench::storm_experiment
