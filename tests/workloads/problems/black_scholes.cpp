#include "tests/workloads/problems/black_scholes.hpp"

#include <cmath>

#include "tests/workloads/support/verify.hpp"

namespace workloads {
namespace {

double cumulative_normal(double d) {
  return 0.5 * std::erfc(-d / std::sqrt(2.0));
}

}  // namespace

const Description kBlackScholes = {
    .name = "BlackScholes",
    .unit = "Moption/s",
    .size_meaning = "options to price",
    .default_size = 16384,
    .size_multiple = BlackScholesProblem::kLanes * BlackScholesProblem::kGroup,
    .maximum_size = 1U << 26U,
    .default_sync = SyncMode::kEvery,
    .default_batch = 12,
};

BlackScholesProblem::BlackScholesProblem(const Parameters& parameters)
    : options(parameters.size),
      stock(random_floats(options, 5.0F, 30.0F, parameters.seed)),
      strike(random_floats(options, 1.0F, 100.0F, parameters.seed + 1)),
      years(random_floats(options, 0.25F, 10.0F, parameters.seed + 2)) {}

std::optional<std::string> BlackScholesProblem::find_mismatch(const std::vector<float>& call,
                                                              const std::vector<float>& put) {
  if (expected_call_.empty()) price_on_host();
  // Prices are differences of values up to 100, so single precision leaves about 1e-5 of them.
  constexpr Tolerance kTolerance = {2e-4, 1e-5};
  if (auto mismatch = compare("call", call, expected_call_, kTolerance)) return mismatch;
  return compare("put", put, expected_put_, kTolerance);
}

void BlackScholesProblem::price_on_host() {
  for (std::size_t option = 0; option < options; ++option) {
    const double spot = stock[option];
    const double exercise = strike[option];
    const double time = years[option];
    const double rate = kRiskFreeRate;
    const double volatility = kVolatility;
    const double deviation = volatility * std::sqrt(time);
    const double d1 = (std::log(spot / exercise) + (rate + 0.5 * volatility * volatility) * time) / deviation;
    const double d2 = d1 - deviation;
    const double discounted = exercise * std::exp(-rate * time);
    expected_call_.push_back(spot * cumulative_normal(d1) - discounted * cumulative_normal(d2));
    expected_put_.push_back(discounted * cumulative_normal(-d2) - spot * cumulative_normal(-d1));
  }
}

}  // namespace workloads
