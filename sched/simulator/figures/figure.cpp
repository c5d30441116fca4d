#include "sched/simulator/figures/figure.hpp"

#include <algorithm>

namespace fairgv::sched {
namespace {

template <typename Each>
void append(std::vector<Each>& all, const std::vector<Each>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// The first `clients` tenants, and every so many further ones that are their copies.
std::vector<TenantOutcome> simulate_each(SimulationSettings settings, std::size_t clients, std::size_t copies,
                                         const FigureRun& run, Bursts bursts) {
  std::vector<TenantOutcome> sum(clients);
  const std::uint64_t first_seed = settings.seed;
  for (std::size_t device = 0; device < run.devices; ++device) {
    settings.seed = first_seed + device;
    const SimulationResult result = simulate(settings);
    const std::vector<TenantOutcome>& tenants = result.devices[0].tenants;
    for (std::size_t i = 0; i < clients * copies; ++i) {
      TenantOutcome& client = sum[i % clients];
      client.used += tenants[i].used;
      client.promised += tenants[i].promised;
      client.longest_turn = std::max(client.longest_turn, tenants[i].longest_turn);
      client.always_runnable = client.always_runnable && tenants[i].always_runnable;
      if (bursts == Bursts::left_out) continue;
      append(client.waits, tenants[i].waits);
      append(client.responses, tenants[i].responses);
      append(client.finished, tenants[i].finished);
    }
  }
  for (TenantOutcome& client : sum) {
    client.used /= static_cast<Duration::rep>(run.devices);
    client.promised /= static_cast<Duration::rep>(run.devices);
  }
  return sum;
}

}  // namespace

std::vector<TenantOutcome> simulate_copies(SimulationSettings settings, const FigureRun& run, Bursts bursts) {
  const std::vector<TenantSpec> clients = settings.kinds;
  const std::size_t processors = settings.host.processors;
  const std::size_t copies = std::max<std::size_t>(1, run.tenants / run.devices / clients.size());
  settings.kinds.clear();
  for (std::size_t copy = 0; copy < copies; ++copy) {
    for (TenantSpec spec : clients) {
      spec.processor += copy * processors;
      spec.attributes.min.budget /= static_cast<Duration::rep>(copies);
      settings.kinds.push_back(spec);
    }
  }
  settings.host.processors *= copies;
  return simulate_each(std::move(settings), clients.size(), copies, run, bursts);
}

std::vector<TenantOutcome> simulate_among_sleepers(SimulationSettings settings, const TenantSpec& sleeper,
                                                   const FigureRun& run) {
  const std::size_t clients = settings.kinds.size();
  TenantSpec asleep = sleeper;
  asleep.kernel = std::chrono::microseconds(100);
  asleep.burst = 1;
  asleep.sleep = 0.9999;
  asleep.count = static_cast<std::uint32_t>(std::max(run.tenants / run.devices, clients) - clients);
  if (asleep.count > 0) settings.kinds.push_back(asleep);
  return simulate_each(std::move(settings), clients, 1, run, Bursts::kept);
}

}  // namespace fairgv::sched
