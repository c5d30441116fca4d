#include "sched/simulator/placement_run.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>

#include "sched/choice/device_choice.hpp"
#include "sched/simulator/device.hpp"
#include "sched/simulator/simulation.hpp"

namespace fairgv::sched {
namespace {

constexpr Duration kMeasureEvery = std::chrono::seconds(1);
constexpr Duration kWorkerSpins = std::chrono::microseconds(50);
constexpr Duration kWholeBurst = std::chrono::milliseconds(20);
/// A newcomer waits so long for the place of a program that ends its last burst.
constexpr Duration kPlaceWait = std::chrono::milliseconds(10);

bool always_wants(const TenantSpec& spec) {
  return spec.sleep <= 0 && spec.period <= Duration(0) && spec.host <= Duration(0) &&
         spec.host_work <= Duration(0);
}

/// The program of one session, in bursts.
TenantSpec in_bursts(TenantSpec spec) {
  spec.sessions = 1;
  spec.arrives = Duration(0);
  if (!always_wants(spec)) return spec;
  spec.period = Duration(1);  // over before the burst is
  const Duration::rep commands = kWholeBurst / std::max(mean_cost(spec), Duration(1));
  spec.burst = static_cast<std::uint32_t>(std::clamp<Duration::rep>(commands, kDriverQueue, 200));
  return spec;
}

class PlacementRun {
 public:
  explicit PlacementRun(const PlacementSettings& settings) : settings_(settings), random_(settings.seed) {
    for (const DeviceProfile& profile : settings.devices) add_device(profile);
    for (std::size_t kind = 0; kind < settings.kinds.size(); ++kind) plan_arrivals(kind);
    plan(kSimulationStart + settings.measured_from, {Step::window, 0});
    if (settings.placement == Placement::best) plan(kSimulationStart + kMeasureEvery, {Step::measure, 0});
  }

  PlacementOutcome go() {
    const Time end = kSimulationStart + settings_.length;
    while (!steps_.empty() && steps_.begin()->first < end) {
      const auto [now, step] = *steps_.begin();
      steps_.erase(steps_.begin());
      play_until(now);
      take(step, now);
    }
    play_until(end);
    finish(end);
    return std::move(outcome_);
  }

 private:
  struct Step {
    enum Kind { arrival, departure, measure, window } kind;
    std::size_t tenant;
  };

  /// A place for one tenant on a device: a tenant of the simulated device.
  struct Place {
    std::optional<std::size_t> tenant{};
    bool leaving = false;  // its tenant has left, but for the rest of a burst
  };

  struct Node {
    std::vector<Place> places{};
    std::vector<std::vector<std::size_t>> free{};  // places, by kind
    std::vector<std::size_t> kind_of{};            // by place
    Duration busy{0};                              // until the window began
  };

  struct Tenant {
    std::size_t kind = 0;
    std::size_t place = 0;
    Time arrived{};
    bool here = false;
    Duration before{0};    // used by its place before it came, or before the window
    Duration measured{0};  // used by its place until the last measurement
  };

  static TenantId id_of(std::size_t tenant) { return {static_cast<std::uint32_t>(tenant)}; }
  void plan(Time when, Step step) { steps_.emplace(when, step); }

  void add_device(const DeviceProfile& profile) {
    const std::uint32_t index = choice_.add(profile);
    fastest_ = std::max(fastest_, choice_.profile(index).speed);
    Node node;
    std::vector<TenantSpec> programs;
    for (std::size_t kind = 0; kind < settings_.kinds.size(); ++kind) {
      const PlacementKind& each = settings_.kinds[kind];
      std::size_t places = each.spec.count;
      if (profile.memory > 0 && each.memory > 0) {
        const std::uint64_t fit = profile.memory / each.memory;
        places = std::min<std::size_t>(places, fit + fit / 4 + 1);  // some are leaving
      }
      node.free.emplace_back();
      for (std::size_t i = 0; i < places; ++i) node.free.back().push_back(programs.size() + places - 1 - i);
      programs.insert(programs.end(), places, in_bursts(each.spec));
      node.kind_of.insert(node.kind_of.end(), places, kind);
    }
    node.places.resize(programs.size());
    nodes_.push_back(std::move(node));
    auto policy = make_policy(settings_.policy, settings_.slices.least);
    if (!policy) throw std::invalid_argument("there is no policy '" + settings_.policy + "'");
    devices_.emplace_back(
        SimulatedDevice::Model{.index = index, .slices = settings_.slices, .spin = kWorkerSpins},
        std::move(policy), programs, settings_.seed, events_);
  }

  void plan_arrivals(std::size_t kind) {
    const PlacementKind& each = settings_.kinds[kind];
    const auto count = static_cast<Duration::rep>(each.spec.count);
    for (Duration::rep i = 0; i < count; ++i) {
      plan(kSimulationStart + each.spec.arrives + each.within * i / count, {Step::arrival, tenants_.size()});
      tenants_.push_back({.kind = kind});
      outcome_.tenants.push_back({.kind = kind});
    }
  }

  TenantProfile profile_of(const Tenant& tenant) const {
    const PlacementKind& kind = settings_.kinds[tenant.kind];
    return {.attributes = kind.spec.attributes, .memory = kind.memory};
  }

  void take(const Step& step, Time now) {
    switch (step.kind) {
      case Step::arrival:
        return arrive(step.tenant, now);
      case Step::departure:
        return depart(step.tenant);
      case Step::measure:
        measure(now);
        return plan(now + kMeasureEvery, step);
      case Step::window:
        return begin_window(now);
    }
  }

  std::optional<std::uint32_t> choose(std::size_t index) const {
    const TenantProfile profile = profile_of(tenants_[index]);
    if (settings_.placement == Placement::best) return choice_.choose(id_of(index), profile).device;
    const auto count = static_cast<std::uint32_t>(devices_.size());
    const std::uint32_t first = settings_.placement == Placement::round_robin ? next_ : 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t device = (first + i) % count;
      if (!choice_.refusal(device, id_of(index), profile)) return device;
    }
    return std::nullopt;
  }

  void arrive(std::size_t index, Time now) {
    Tenant& tenant = tenants_[index];
    const auto device = choose(index);
    if (!device) return;
    std::vector<std::size_t>& free = nodes_[*device].free[tenant.kind];
    if (free.empty()) return plan(now + kPlaceWait, {Step::arrival, index});
    next_ = *device + 1;
    outcome_.tenants[index].device = device;
    tenant.place = free.back();
    free.pop_back();
    tenant.arrived = now;
    tenant.here = true;
    tenant.before = tenant.measured = used_by(index);
    nodes_[*device].places[tenant.place] = {index, false};
    choice_.place(*device, id_of(index), profile_of(tenant));
    events_.schedule({now, SimulationEvent::Kind::program_wakes, *device, tenant.place});
    const Duration stays = settings_.kinds[tenant.kind].stays;
    if (stays <= Duration(0)) return;
    const auto part = static_cast<Duration::rep>(random_() % 1'000);
    plan(now + stays / 2 + stays / 1'000 * part, {Step::departure, index});
  }

  void depart(std::size_t index) {
    count_use(index);
    tenants_[index].here = false;
    const std::uint32_t device = *outcome_.tenants[index].device;
    nodes_[device].places[tenants_[index].place].leaving = true;
    choice_.leave(device, id_of(index));
  }

  /// Use of its place in this run so far, by all tenants that had it.
  Duration used_by(std::size_t index) const {
    return devices_[*outcome_.tenants[index].device].outcome().tenants[tenants_[index].place].used;
  }

  void count_use(std::size_t index) {
    outcome_.tenants[index].used = used_by(index) - tenants_[index].before;
  }

  void measure(Time now) {
    for (std::size_t index = 0; index < tenants_.size(); ++index) {
      Tenant& tenant = tenants_[index];
      if (!tenant.here) continue;
      const Duration used = used_by(index) - std::exchange(tenant.measured, used_by(index));
      if (now - tenant.arrived < kMeasureEvery) continue;
      const auto ppm = used.count() * Duration::rep{Share::kWholePpm} / kMeasureEvery.count();
      choice_.measured(*outcome_.tenants[index].device, id_of(index),
                       {{static_cast<std::uint32_t>(ppm)}, settings_.kinds[tenant.kind].memory});
    }
  }

  void begin_window(Time now) {
    for (std::size_t device = 0; device < devices_.size(); ++device) {
      devices_[device].account(now);
      nodes_[device].busy = devices_[device].outcome().busy;
    }
    for (std::size_t index = 0; index < tenants_.size(); ++index) {
      outcome_.tenants[index].used = Duration(0);
      outcome_.tenants[index].whole_window = tenants_[index].here;
      if (tenants_[index].here) tenants_[index].before = used_by(index);
    }
  }

  void play_until(Time end) {
    while (!events_.empty() && events_.first().when < end) {
      const SimulationEvent event = events_.first();
      events_.pop();
      if (event.kind == SimulationEvent::Kind::program_wakes && leaves(event.device, event.subject)) continue;
      devices_[event.device].handle(event);
    }
  }

  /// Frees the place of a tenant that has left and has ended its burst.
  bool leaves(std::size_t device, std::size_t place) {
    Node& node = nodes_[device];
    if (!node.places[place].leaving) return false;
    node.places[place] = {};
    node.free[node.kind_of[place]].push_back(place);
    return true;
  }

  void finish(Time end) {
    const double window = static_cast<double>((settings_.length - settings_.measured_from).count());
    const auto fastest = static_cast<double>(fastest_);
    outcome_.by_device.resize(devices_.size());
    for (std::uint32_t device = 0; device < devices_.size(); ++device) {
      devices_[device].account(end);
      const Duration busy = devices_[device].outcome().busy - nodes_[device].busy;
      outcome_.busy.push_back(static_cast<double>(busy.count()) / window);
    }
    for (std::size_t index = 0; index < tenants_.size(); ++index) {
      PlacedTenant& placed = outcome_.tenants[index];
      if (!placed.device) continue;
      if (tenants_[index].here) {
        count_use(index);
        ++outcome_.by_device[*placed.device];
      } else {
        placed.whole_window = false;
      }
      placed.share = static_cast<double>(placed.used.count()) / window *
                     static_cast<double>(choice_.profile(*placed.device).speed) / fastest;
    }
  }

  const PlacementSettings& settings_;
  std::mt19937_64 random_;
  DeviceChoice choice_;
  EventQueue events_;
  std::deque<SimulatedDevice> devices_;  // a deque: devices cannot be moved
  std::vector<Node> nodes_;              // the same
  std::vector<Tenant> tenants_;
  std::multimap<Time, Step> steps_;
  std::uint32_t next_ = 0;  // of round robin
  std::uint64_t fastest_ = 1;
  PlacementOutcome outcome_;
};

}  // namespace

double PlacementOutcome::sum_of_shares() const {
  double sum = 0;
  for (const PlacedTenant& tenant : tenants) sum += tenant.share;
  return sum;
}

std::size_t PlacementOutcome::refused() const {
  return static_cast<std::size_t>(
      std::count_if(tenants.begin(), tenants.end(), [](const PlacedTenant& each) { return !each.device; }));
}

double PlacementOutcome::min_max_ratio(const PlacementSettings& settings) const {
  std::optional<double> least;
  double most = 0;
  for (const PlacedTenant& tenant : tenants) {
    const TenantSpec& spec = settings.kinds[tenant.kind].spec;
    if (!tenant.whole_window || !always_wants(spec)) continue;
    const double share = tenant.share / spec.attributes.weight;
    least = std::min(least.value_or(share), share);
    most = std::max(most, share);
  }
  return most > 0 ? *least / most : 1;
}

PlacementOutcome run_placement(const PlacementSettings& settings) {
  return PlacementRun(settings).go();
}

}  // namespace fairgv::sched
