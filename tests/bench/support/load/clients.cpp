#include "tests/bench/support/load/clients.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <thread>

#include "tests/harness/statistics.hpp"

namespace fairgv::bench {

using namespace harness;

Program pinned(Program program, std::size_t client, std::size_t clients, const Placement& placement) {
  const std::string& device_cores = placement.device_cores();  // "0", or "0-1"
  const unsigned first =
      device_cores.empty()
          ? 0
          : 1 + static_cast<unsigned>(std::stoul(device_cores.substr(device_cores.find('-') + 1)));
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency() - first);
  const std::size_t place = clients <= 3 ? 0 : client / 2;
  const std::string core = std::to_string(first + place % cores);
  program.insert(program.begin(), {"taskset", "--cpu-list", core});
  return program;
}

namespace {

/// Tenants of the same program are due the same by weight: the speed of one of them in a few turns by itself
/// says more of those turns than of its kernels.
std::vector<double> of_likes(const std::vector<Program>& programs, const std::vector<double>& speeds) {
  std::map<Program, std::vector<double>> likes;
  for (std::size_t i = 0; i < programs.size(); ++i) likes[programs[i]].push_back(speeds[i]);
  std::vector<double> result;
  for (const Program& program : programs) result.push_back(median(likes[program]));
  return result;
}

}  // namespace

Fairness fairness_of(const std::vector<std::uint32_t>& weights, const std::vector<Program>& programs,
                     const std::vector<double>& together, const std::vector<double>& alone) {
  const std::vector<double> likes = of_likes(programs, alone);
  std::vector<Tenant> tenants(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    tenants[i].weight = weights[i];
    tenants[i].together = together[i];
    tenants[i].alone = likes[i];
  }
  return fairness_of(tenants);
}

std::vector<double> completion_of(const std::vector<std::uint32_t>& weights,
                                  const std::vector<Program>& programs, const std::vector<double>& together,
                                  const std::vector<double>& on_driver) {
  const std::vector<double> likes = of_likes(programs, on_driver);
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> completion;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    completion.push_back(likes[i] * weights[i] / all / together[i]);
  }
  return completion;
}

}  // namespace fairgv::bench
