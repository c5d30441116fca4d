#include "sched/simulator/simulation.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <stdexcept>

#include "sched/policies/registry.hpp"

namespace fairgv::sched {
namespace {

double usable_alone(const TenantSpec& tenant) {
  return std::min(1.0, tenant.sessions * (1 - tenant.sleep));
}

std::unique_ptr<Policy> known_policy(const std::string& name, Duration slice) {
  if (auto policy = make_policy(name, slice)) return policy;
  throw std::invalid_argument("there is no policy '" + name + "': there are " + policy_names());
}

}  // namespace

SimulationResult simulate(const SimulationSettings& settings, const TurnObserver& after_turn) {
  SimulationResult result;
  for (std::size_t kind = 0; kind < settings.kinds.size(); ++kind) {
    result.tenants.insert(result.tenants.end(), settings.kinds[kind].count, settings.kinds[kind]);
    result.kind.insert(result.kind.end(), settings.kinds[kind].count, kind);
  }
  result.entitled = entitled_shares(result.tenants);

  EventQueue events;
  std::optional<SimulatedHost> host;
  if (settings.host.processors > 0) host.emplace(settings.host, events);
  std::deque<SimulatedDevice> devices;  // a deque: devices cannot be moved
  for (std::size_t index = 0; index < settings.devices; ++index) {
    auto policy = known_policy(settings.policy, settings.slices.least);
    const SimulatedDevice::Model model{.index = index,
                                       .queue_depth = settings.queue_depth,
                                       .slices = settings.slices,
                                       .costs = settings.costs,
                                       .switch_cost = settings.switch_cost,
                                       .spin = settings.spin};
    devices.emplace_back(model, std::move(policy), result.tenants, settings.seed, events,
                         host ? &*host : nullptr);
  }
  if (host) host->start(kSimulationStart);
  for (SimulatedDevice& device : devices) device.start(kSimulationStart);
  const Time end = kSimulationStart + settings.length;
  auto exchange = settings.exchanges.begin();
  while (!events.empty() && events.first().when <= end) {
    if (exchange != settings.exchanges.end() && kSimulationStart + exchange->at <= events.first().when) {
      for (SimulatedDevice& device : devices) {
        device.set_policy(known_policy(exchange->policy, settings.slices.least),
                          kSimulationStart + exchange->at);
      }
      ++exchange;
      continue;
    }
    const SimulationEvent event = events.first();
    events.pop();
    if (event.kind == SimulationEvent::Kind::host_tick) {
      host->tick(event.when);
      for (SimulatedDevice& device : devices) device.hear_of_host(event.when);
      continue;
    }
    SimulatedDevice& device = devices[event.device];
    device.handle(event);
    if (after_turn && device.turn_ended()) after_turn(event.device, device.outcome());
  }
  for (SimulatedDevice& device : devices) {
    device.account(end);
    result.devices.push_back(device.outcome());
  }
  return result;
}

std::vector<double> entitled_shares(const std::vector<TenantSpec>& tenants) {
  std::vector<std::size_t> order(tenants.size());
  std::iota(order.begin(), order.end(), 0);
  // The tenant that needs least for its weight is satisfied first, and leaves its rest to the tenants behind
  // it.
  const auto need = [&](std::size_t tenant) {
    return usable_alone(tenants[tenant]) / tenants[tenant].attributes.weight;
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return need(a) < need(b); });
  double weights = 0;
  for (const TenantSpec& tenant : tenants) weights += tenant.attributes.weight;
  double left = 1;
  std::vector<double> shares(tenants.size());
  for (const std::size_t tenant : order) {
    shares[tenant] =
        std::min(usable_alone(tenants[tenant]), left * tenants[tenant].attributes.weight / weights);
    left -= shares[tenant];
    weights -= tenants[tenant].attributes.weight;
  }
  return shares;
}

}  // namespace fairgv::sched
