// BlackScholes: prices of European call and put options by the Black-Scholes formula. One launch per round;
// the host waits for each.

#include <cmath>

#include "tests/workloads/support/device.hpp"
#include "tests/workloads/support/launcher.hpp"
#include "tests/workloads/support/verify.hpp"
#include "tests/workloads/support/workload.hpp"

namespace workloads {
namespace {

constexpr std::size_t kLanes = 4;  // Options per work-item.
constexpr std::size_t kGroup = 64;
constexpr float kRiskFreeRate = 0.02F;
constexpr float kVolatility = 0.30F;

// The cumulative normal distribution is the polynomial 26.2.17 of Abramowitz and Stegun (error below 7.5e-8).
constexpr const char* kSource = R"(
float4 cumulative_normal(const float4 d) {
  const float4 k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  const float4 polynomial =
      k * (0.319381530f +
           k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float4 tail = 0.39894228040f * exp(-0.5f * d * d) * polynomial;
  return d > 0.0f ? 1.0f - tail : tail;
}

__kernel void price(__global float4* restrict call, __global float4* restrict put,
                    __global const float4* restrict stock, __global const float4* restrict strike,
                    __global const float4* restrict years, const float rate, const float volatility) {
  const int quad = get_global_id(0);
  const float4 s = stock[quad];
  const float4 t = years[quad];
  const float4 deviation = volatility * sqrt(t);
  const float4 d1 = (log(s / strike[quad]) + (rate + 0.5f * volatility * volatility) * t) / deviation;
  const float4 d2 = d1 - deviation;
  const float4 discounted = strike[quad] * exp(-rate * t);
  const float4 n1 = cumulative_normal(d1);
  const float4 n2 = cumulative_normal(d2);
  call[quad] = s * n1 - discounted * n2;
  put[quad] = discounted * (1.0f - n2) - s * (1.0f - n1);
}
)";

double cumulative_normal(double d) {
  return 0.5 * std::erfc(-d / std::sqrt(2.0));
}

class BlackScholes : public Workload {
 public:
  BlackScholes(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        options_(parameters.size),
        host_stock_(random_floats(options_, 5.0F, 30.0F, parameters.seed)),
        host_strike_(random_floats(options_, 1.0F, 100.0F, parameters.seed + 1)),
        host_years_(random_floats(options_, 0.25F, 10.0F, parameters.seed + 2)),
        stock_(device.upload(host_stock_)),
        strike_(device.upload(host_strike_)),
        years_(device.upload(host_years_)),
        call_(device.buffer<float>(options_)),
        put_(device.buffer<float>(options_)),
        program_(device.build(kSource)),
        kernel_(device.kernel(program_, "price")) {
    set_arguments(kernel_, call_, put_, stock_, strike_, years_, kRiskFreeRate, kVolatility);
  }

  void enqueue_round() override { launcher_.launch(kernel_, {options_ / kLanes, 1}, {kGroup, 1}); }

  double work_per_round() const override { return static_cast<double>(options_) / 1e6; }

  void poison() override {
    launcher_.fill(call_, std::nanf(""), options_);
    launcher_.fill(put_, std::nanf(""), options_);
  }

  std::optional<std::string> find_mismatch() override {
    if (expected_call_.empty()) price_on_host();
    // Prices are differences of values up to 100, so single precision leaves about 1e-5 of them.
    constexpr Tolerance kTolerance = {2e-4, 1e-5};
    if (auto mismatch = compare("call", launcher_.read<float>(call_, options_), expected_call_, kTolerance)) {
      return mismatch;
    }
    return compare("put", launcher_.read<float>(put_, options_), expected_put_, kTolerance);
  }

 private:
  void price_on_host() {
    for (std::size_t option = 0; option < options_; ++option) {
      const double stock = host_stock_[option];
      const double strike = host_strike_[option];
      const double years = host_years_[option];
      const double rate = kRiskFreeRate;
      const double volatility = kVolatility;
      const double deviation = volatility * std::sqrt(years);
      const double d1 =
          (std::log(stock / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation;
      const double d2 = d1 - deviation;
      const double discounted = strike * std::exp(-rate * years);
      expected_call_.push_back(stock * cumulative_normal(d1) - discounted * cumulative_normal(d2));
      expected_put_.push_back(discounted * cumulative_normal(-d2) - stock * cumulative_normal(-d1));
    }
  }

  Launcher& launcher_;
  const std::size_t options_;
  const std::vector<float> host_stock_;
  const std::vector<float> host_strike_;
  const std::vector<float> host_years_;
  const Buffer stock_;
  const Buffer strike_;
  const Buffer years_;
  const Buffer call_;
  const Buffer put_;
  const Program program_;
  const Kernel kernel_;
  std::vector<double> expected_call_;
  std::vector<double> expected_put_;
};

const Description kDescription = {
    .name = "BlackScholes",
    .unit = "Moption/s",
    .size_meaning = "options to price",
    .default_size = 16384,
    .size_multiple = kLanes * kGroup,
    .maximum_size = 1U << 26U,
    .default_sync = SyncMode::kEvery,
    .default_batch = 12,
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_workload<BlackScholes>(kDescription, argc, argv);
}
