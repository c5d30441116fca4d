// BlackScholes: prices of European call and put options by the Black-Scholes formula. One launch per round;
// the host waits for each.

#include <cmath>

#include "tests/workloads/problems/black_scholes.hpp"
#include "tests/workloads/support/opencl_program.hpp"

namespace workloads {
namespace {

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

class BlackScholes : public Workload {
 public:
  using Problem = BlackScholesProblem;

  BlackScholes(Device& device, Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        stock_(device.upload(problem_.stock)),
        strike_(device.upload(problem_.strike)),
        years_(device.upload(problem_.years)),
        call_(device.buffer<float>(problem_.options)),
        put_(device.buffer<float>(problem_.options)),
        program_(device.build(kSource)),
        kernel_(device.kernel(program_, "price")) {
    set_arguments(kernel_, call_, put_, stock_, strike_, years_, Problem::kRiskFreeRate,
                  Problem::kVolatility);
  }

  void enqueue_round() override {
    launcher_.launch(kernel_, {problem_.options / Problem::kLanes, 1}, {Problem::kGroup, 1});
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    launcher_.fill(call_, std::nanf(""), problem_.options);
    launcher_.fill(put_, std::nanf(""), problem_.options);
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(launcher_.read<float>(call_, problem_.options),
                                  launcher_.read<float>(put_, problem_.options));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const Buffer stock_;
  const Buffer strike_;
  const Buffer years_;
  const Buffer call_;
  const Buffer put_;
  const Program program_;
  const Kernel kernel_;
};

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  using namespace workloads;
  return run_opencl<BlackScholes>(kBlackScholes, argc, argv);
}
