// BlackScholes in CUDA: see problems/black_scholes.hpp and the OpenCL program, whose blocks do the same work.
#include "tests/workloads/cuda/support/program.hpp"
#include "tests/workloads/problems/black_scholes.hpp"

namespace workloads::cuda {
namespace {

// The polynomial 26.2.17 of Abramowitz and Stegun (error below 7.5e-8).
__device__ float cumulative_normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float polynomial =
      k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.39894228040f * expf(-0.5f * d * d) * polynomial;
  return d > 0.0f ? 1.0f - tail : tail;
}

__device__ void price_one(float& call, float& put, float stock, float strike, float years, float rate,
                          float volatility) {
  const float deviation = volatility * sqrtf(years);
  const float d1 = (logf(stock / strike) + (rate + 0.5f * volatility * volatility) * years) / deviation;
  const float d2 = d1 - deviation;
  const float discounted = strike * expf(-rate * years);
  const float n1 = cumulative_normal(d1);
  const float n2 = cumulative_normal(d2);
  call = stock * n1 - discounted * n2;
  put = discounted * (1.0f - n2) - stock * (1.0f - n1);
}

__global__ void price(float4* __restrict__ call, float4* __restrict__ put, const float4* __restrict__ stock,
                      const float4* __restrict__ strike, const float4* __restrict__ years, float rate,
                      float volatility) {
  const int quad = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 s = stock[quad];
  const float4 k = strike[quad];
  const float4 t = years[quad];
  float4 c;
  float4 p;
  price_one(c.x, p.x, s.x, k.x, t.x, rate, volatility);
  price_one(c.y, p.y, s.y, k.y, t.y, rate, volatility);
  price_one(c.z, p.z, s.z, k.z, t.z, rate, volatility);
  price_one(c.w, p.w, s.w, k.w, t.w, rate, volatility);
  call[quad] = c;
  put[quad] = p;
}

class BlackScholes : public Workload {
 public:
  using Problem = BlackScholesProblem;

  BlackScholes(Launcher& launcher, const Parameters& parameters)
      : launcher_(launcher),
        problem_(parameters),
        stock_(problem_.stock),
        strike_(problem_.strike),
        years_(problem_.years),
        call_(problem_.options / Problem::kLanes),
        put_(problem_.options / Problem::kLanes) {
    launcher_.load(price);
  }

  void enqueue_round() override {
    const auto blocks = static_cast<unsigned>(problem_.options / Problem::kLanes / Problem::kGroup);
    launcher_.launch(price, blocks, Problem::kGroup, call_.get(), put_.get(), stock_.get(), strike_.get(),
                     years_.get(), Problem::kRiskFreeRate, Problem::kVolatility);
  }

  double work_per_round() const override { return problem_.work(); }

  void poison() override {
    call_.fill(0xff, launcher_.stream());
    put_.fill(0xff, launcher_.stream());
  }

  std::optional<std::string> find_mismatch() override {
    return problem_.find_mismatch(call_.read<float>(launcher_.stream()),
                                  put_.read<float>(launcher_.stream()));
  }

 private:
  Launcher& launcher_;
  Problem problem_;
  const DeviceArray<float4> stock_;
  const DeviceArray<float4> strike_;
  const DeviceArray<float4> years_;
  DeviceArray<float4> call_;
  DeviceArray<float4> put_;
};

}  // namespace
}  // namespace workloads::cuda

int main(int argc, char** argv) {
  return workloads::cuda::run_cuda<workloads::cuda::BlackScholes>(workloads::kBlackScholes, argc, argv);
}
