#include "sched/simulator/oversell_run.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "sched/policies/gover/cap.hpp"
#include "sched/simulator/device.hpp"

namespace fairgv::sched {
namespace {

constexpr Time kBegin{std::chrono::hours(1)};                                       // a whole second
constexpr SliceRule kInterval = SliceRule::constant(std::chrono::milliseconds(1));  // gVirt (section 2.4)

double as_part(Duration time) {
  return static_cast<double>(time.count()) / static_cast<double>(oversell::kPeriod.count());
}

class OversellRun {
 public:
  explicit OversellRun(const OversellSettings& settings)
      : settings_(settings),
        controller_(settings.controller),
        device_({.slices = kInterval}, std::make_unique<CapPolicy>(kInterval.least), settings.customers,
                settings.seed, events_),
        tenants_(settings.customers.size()) {}

  OversellOutcome go() {
    for (std::size_t i = 0; i < settings_.at_first; ++i) next_customer(kBegin);
    set_caps(kBegin);
    Time customer_comes = kBegin + settings_.between_customers;
    for (Time now = kBegin; now < kBegin + settings_.length;) {
      now += oversell::kPeriod;
      play_until(now);
      end_second();
      if (now >= customer_comes) {
        if (next_customer(now)) outcome_.sold_at.push_back(second_);
        customer_comes += settings_.between_customers;
      }
      set_caps(now);
    }
    outcome_.overbooking = controller_.overbooking();
    return std::move(outcome_);
  }

 private:
  struct Tenant {
    bool here = false;
    Duration used{0};  // up to the last second
    std::uint64_t units = 0;
  };

  static TenantId id_of(std::size_t customer) { return {static_cast<std::uint32_t>(customer)}; }

  bool next_customer(Time now) {
    if (next_ == settings_.customers.size()) return false;
    const std::size_t customer = next_++;
    const TenantAttributes& wanted = settings_.customers[customer].attributes;
    if (!controller_.sell(id_of(customer), wanted.max, wanted.units_per_second)) return false;
    tenants_[customer].here = true;
    events_.schedule({now, SimulationEvent::Kind::program_wakes, 0, customer});
    return true;
  }

  void play_until(Time end) {
    while (!events_.empty() && events_.first().when < end) {
      const SimulationEvent event = events_.first();
      events_.pop();
      device_.handle(event);
    }
    device_.account(end);
  }

  void end_second() {
    std::vector<oversell::Observation> seen;
    for (std::size_t i = 0; i < next_; ++i) {
      if (!tenants_[i].here) continue;
      const TenantOutcome& outcome = device_.outcome().tenants[i];
      seen.push_back(
          {id_of(i), outcome.used - tenants_[i].used, outcome.responses.size() - tenants_[i].units});
      tenants_[i].used = outcome.used;
      tenants_[i].units = outcome.responses.size();
    }
    const oversell::Report report = controller_.second(seen);
    for (const oversell::Load& load : report.loads) {
      outcome_.seconds.push_back(
          {second_, load.id.value, load.cap, load.utilisation, load.level, load.shortfall > 0});
    }
    outcome_.busy.push_back(as_part(device_.outcome().busy - busy_));
    busy_ = device_.outcome().busy;
    outcome_.tenants.push_back(seen.size());
    outcome_.warnings += report.warning ? 1 : 0;
    ++second_;
  }

  void set_caps(Time now) {
    for (const oversell::CapChange& change : controller_.take_changes()) {
      TenantAttributes attributes = settings_.customers[change.id.value].attributes;
      attributes.max = change.cap;
      device_.set_attributes(change.id.value, attributes, now);
    }
  }

  const OversellSettings& settings_;
  oversell::Controller controller_;
  EventQueue events_;
  SimulatedDevice device_;
  std::vector<Tenant> tenants_;
  std::size_t next_ = 0;
  std::size_t second_ = 0;
  Duration busy_{0};
  OversellOutcome outcome_;
};

}  // namespace

double OversellOutcome::mean_utilisation() const {
  if (busy.empty()) return 0;
  return std::accumulate(busy.begin(), busy.end(), 0.0) / static_cast<double>(busy.size());
}

double OversellOutcome::broken_part() const {
  if (seconds.empty()) return 0;
  const auto broken =
      std::count_if(seconds.begin(), seconds.end(), [](const auto& each) { return each.broken; });
  return static_cast<double>(broken) / static_cast<double>(seconds.size());
}

OversellOutcome run_oversell(const OversellSettings& settings) {
  return OversellRun(settings).go();
}

}  // namespace fairgv::sched
