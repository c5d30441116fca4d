#pragma once
// Prices of European call and put options by the Black-Scholes formula, and their right values.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/support/workload.hpp"

namespace workloads {

extern const Description kBlackScholes;

struct BlackScholesProblem {
  static constexpr std::size_t kLanes = 4;  ///< Options of a work-item, or thread.
  static constexpr std::size_t kGroup = 64;
  static constexpr float kRiskFreeRate = 0.02F;
  static constexpr float kVolatility = 0.30F;

  explicit BlackScholesProblem(const Parameters& parameters);

  double work() const { return static_cast<double>(options) / 1e6; }

  std::optional<std::string> find_mismatch(const std::vector<float>& call, const std::vector<float>& put);

  const std::size_t options;
  const std::vector<float> stock;
  const std::vector<float> strike;
  const std::vector<float> years;

 private:
  void price_on_host();

  std::vector<double> expected_call_;
  std::vector<double> expected_put_;
};

}  // namespace workloads
