#include "sched/simulator/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>

#include "sched/policies/registry.hpp"
#include "sched/water_level.hpp"

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
  const auto id_of = [](std::size_t tenant) { return TenantId{static_cast<std::uint32_t>(tenant + 1)}; };
  WaterLevel level;
  for (std::size_t tenant = 0; tenant < tenants.size(); ++tenant) {
    const TenantAttributes& its = tenants[tenant].attributes;
    const double usable = usable_alone(tenants[tenant]) * static_cast<double>(WaterLevel::kWhole);
    level.set(id_of(tenant),
              {its.weight, its.min.share().ppm * WaterLevel::kPartsOfPpm,
               std::min<WaterLevel::Parts>(std::llround(usable), its.max.ppm * WaterLevel::kPartsOfPpm)});
  }
  std::vector<double> shares;
  for (std::size_t tenant = 0; tenant < tenants.size(); ++tenant)
    shares.push_back(level.share(id_of(tenant)));
  return shares;
}

}  // namespace fairgv::sched
