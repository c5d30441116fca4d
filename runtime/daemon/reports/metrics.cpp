#include "runtime/daemon/reports/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "runtime/daemon/reports/report.hpp"

namespace fairgv::daemon {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

/// The bounds of the wait histogram, powers of four: 1.024 us to 17.2 s, as exponents of two in nanoseconds.
constexpr int kShortestBound = 10;
constexpr int kLongestBound = 34;

double in_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// A number of bytes that may mean that there is no limit.
double limit_of(std::uint64_t bytes) {
  return bytes == memquota::kUnlimited ? std::numeric_limits<double>::infinity() : static_cast<double>(bytes);
}

/// All families, in the order in which they are begun.
class Families {
 public:
  /// Values added after this belong to it.
  void begin(const char* name, const char* help, MetricType type) {
    families_.push_back({name, help, type, {}});
  }
  void add(const Labels& labels, double value) {
    ClientMetric metric;
    metric.label = labels;
    if (families_.back().type == MetricType::Counter) {
      metric.counter.value = value;
    } else {
      metric.gauge.value = value;
    }
    families_.back().metric.push_back(std::move(metric));
  }
  void add(const Labels& labels, std::uint64_t value) { add(labels, static_cast<double>(value)); }
  void add(const Labels& labels, const WaitHistogram& waits) {
    ClientMetric metric;
    metric.label = labels;
    metric.histogram.sample_count = waits.count();
    metric.histogram.sample_sum = in_seconds(waits.sum());
    for (int octave = kShortestBound; octave <= kLongestBound; octave += 2) {
      metric.histogram.bucket.push_back({waits.below(octave), std::ldexp(1e-9, octave)});
    }
    metric.histogram.bucket.push_back({waits.count(), std::numeric_limits<double>::infinity()});
    families_.back().metric.push_back(std::move(metric));
  }
  std::string text() const {
    std::ostringstream out;
    // Families without a value are left out: nothing is known of them.
    std::vector<MetricFamily> told;
    std::copy_if(families_.begin(), families_.end(), std::back_inserter(told),
                 [](const MetricFamily& family) { return !family.metric.empty(); });
    prometheus::TextSerializer().Serialize(out, told);
    return out.str();
  }

 private:
  std::vector<MetricFamily> families_;
};

/// A value of each tenant.
template <class Value>
void of_tenants(Families& families, const Books& books, const char* name, const char* help, MetricType type,
                Value value) {
  families.begin(name, help, type);
  for (const TenantEntry& entry : books.tenants) {
    families.add({{"tenant", entry.tenant.name}}, value(entry));
  }
}

/// A value of each tenant on each device.
template <class Value>
void of_uses(Families& families, const Books& books, const char* name, const char* help, MetricType type,
             Value value) {
  families.begin(name, help, type);
  for (const TenantEntry& entry : books.tenants) {
    for (std::size_t device = 0; device < entry.devices.size(); ++device) {
      if (entry.devices[device].elsewhere) continue;
      families.add({{"tenant", entry.tenant.name}, {"device", std::to_string(device)}},
                   value(entry, entry.devices[device]));
    }
  }
}

void add_daemon(Families& families, const DaemonLife& life, const TenantRegistry& tenants, Books::Time now) {
  families.begin("fairgv_build_info", "The daemon's version; always 1", MetricType::Gauge);
  families.add({{"version", FAIRGV_VERSION}}, 1.0);
  families.begin("fairgv_uptime_seconds", "For how long this daemon has served, restarts included",
                 MetricType::Gauge);
  families.add({}, in_seconds(now - life.serving_since));
  families.begin("fairgv_restarts_total", "How often the daemon was replaced while it served",
                 MetricType::Counter);
  families.add({}, life.restarts);
  const TenantRegistry::Promised promised = tenants.promised();
  families.begin("fairgv_promised_share",
                 "Part of each device that is promised: all guarantees, and the floor of the batch class",
                 MetricType::Gauge);
  families.add({}, promised.sum.fraction());
  families.begin("fairgv_promise_limit_share", "The most of each device that may be promised",
                 MetricType::Gauge);
  families.add({}, promised.limit.fraction());
}

void add_devices(Families& families, const Sources& from) {
  const auto sharing = from.dispatch.devices();
  const memquota::Ledger& ledger = from.tenancies.memory().ledger();
  const auto each = [&](auto value) {
    for (std::uint32_t device = 0; device < from.devices.size(); ++device) {
      if (from.devices.is_elsewhere(device)) continue;
      families.add({{"device", std::to_string(device)}}, value(device));
    }
  };
  families.begin("fairgv_device_info", "A device's name and how it is shared; always 1", MetricType::Gauge);
  for (std::uint32_t device = 0; device < from.devices.size(); ++device) {
    Labels labels{{"device", std::to_string(device)},
                  {"name", from.devices.devices[device].name},
                  {"platform", from.devices.devices[device].platform},
                  {"policy", sharing[device].policy}};
    if (from.devices.is_elsewhere(device))
      labels.push_back({"same_as", std::to_string(from.devices.hardware[device])});
    families.add(labels, 1.0);
  }
  families.begin("fairgv_device_failed", "1 if the device has failed, and its sessions have left it; else 0",
                 MetricType::Gauge);
  for (std::uint32_t device = 0; device < from.devices.size(); ++device)
    families.add({{"device", std::to_string(device)}}, from.devices.has_failed(device) ? 1.0 : 0.0);
  families.begin("fairgv_device_slice_seconds", "Length of a turn while as many want the device as now",
                 MetricType::Gauge);
  each([&](std::uint32_t device) { return in_seconds(sharing[device].slice); });
  families.begin("fairgv_device_memory_bytes", "Memory that the device shares out", MetricType::Gauge);
  each([&](std::uint32_t device) { return limit_of(ledger.capacity(device)); });
  families.begin("fairgv_device_sessions", "Sessions that may use the device", MetricType::Gauge);
  std::vector<std::uint64_t> sessions(from.devices.size());
  for (const auto& [id, session] : from.sessions.all()) {
    if (session->stage != Session::Stage::running) continue;
    std::set<std::uint32_t> hardware;
    for (const std::uint32_t device : session->devices.shown())
      hardware.insert(from.devices.hardware[device]);
    for (const std::uint32_t device : hardware) ++sessions[device];
  }
  each([&](std::uint32_t device) { return sessions[device]; });
  families.begin(
      "fairgv_device_passed_over_total",
      "How often the device could not take a session for which a device was chosen, by what it lacked",
      MetricType::Counter);
  const auto& all = from.placements.refusals();  // shorter where nothing was chosen yet
  for (std::uint32_t device = 0; device < from.devices.size(); ++device) {
    if (from.devices.is_elsewhere(device)) continue;
    const Placements::Refusals refusals = device < all.size() ? all[device] : Placements::Refusals{};
    const std::string number = std::to_string(device);
    families.add({{"device", number}, {"reason", "memory"}}, refusals.memory);
    families.add({{"device", number}, {"reason", "guarantee"}}, refusals.guarantee);
  }
  families.begin("fairgv_device_memory_used_bytes", "Memory of the device that all tenants hold",
                 MetricType::Gauge);
  each([&](std::uint32_t device) { return ledger.charged(device); });
}

/// Of devices whose memory is lent beyond their size.
void add_lending(Families& families, const Sources& from, const Books& books) {
  const MemoryBook& memory = from.tenancies.memory();
  families.begin("fairgv_device_memory_there_bytes",
                 "Memory that is on the device, which shares out more ([device] oversubscribe)",
                 MetricType::Gauge);
  for (std::uint32_t device = 0; device < from.devices.size(); ++device) {
    if (memory.there(device) != 0) families.add({{"device", std::to_string(device)}}, memory.there(device));
  }
  families.begin("fairgv_lent_memory_bytes",
                 "Memory of the tenant's programs that is on a device that lends it", MetricType::Gauge);
  for (const TenantEntry& entry : books.tenants) {
    std::map<std::uint32_t, std::uint64_t> there;
    for (const auto& [id, session] : from.sessions.all()) {
      if (session->tenant != entry.tenant.id) continue;
      for (const auto& lent : lent_to(*session)) there[lent.device] += lent.there;
    }
    for (const auto& [device, bytes] : there)
      families.add({{"tenant", entry.tenant.name}, {"device", std::to_string(device)}}, bytes);
  }
}

/// Of devices that are oversold, and of the tenants that have bought of them.
void add_overselling(Families& families, const Sources& from, const Books& books) {
  const auto of_devices = [&](const char* name, const char* help, MetricType type, auto value) {
    families.begin(name, help, type);
    for (std::uint32_t device = 0; device < from.devices.size(); ++device) {
      if (const Market* const market = from.markets.of(device))
        families.add({{"device", std::to_string(device)}}, value(*market));
    }
  };
  of_devices("fairgv_device_for_sale_share", "Part of the device that a tenant can buy now",
             MetricType::Gauge, [](const Market& market) { return market.for_sale().fraction(); });
  of_devices("fairgv_device_load_share", "Part of the device that its tenants used in the latest second",
             MetricType::Gauge, [](const Market& market) { return market.controller().total_load(); });
  of_devices("fairgv_device_overbooking_ratio", "The parts that tenants have bought, added up",
             MetricType::Gauge, [](const Market& market) { return market.controller().overbooking(); });
  of_devices("fairgv_device_overloaded_tenants",
             "Tenants that need more of the device than they have, of what they have bought",
             MetricType::Gauge,
             [](const Market& market) { return std::uint64_t{market.report().overloaded.size()}; });
  of_devices("fairgv_device_overload_warnings_total",
             "Seconds in which a program should have moved to another device", MetricType::Counter,
             [](const Market& market) { return market.totals().warnings; });
  of_devices("fairgv_device_cap_changes_total", "Caps that were set for tenants that came or were overloaded",
             MetricType::Counter, [](const Market& market) { return market.totals().changes; });
  const auto of_holders = [&](const char* name, const char* help, MetricType type, auto value) {
    families.begin(name, help, type);
    for (const TenantEntry& entry : books.tenants) {
      for (std::uint32_t device = 0; device < from.devices.size(); ++device) {
        const Market* const market = from.markets.of(device);
        const auto load = market == nullptr ? std::nullopt : market->load(entry.tenant.id);
        if (!load) continue;
        families.add({{"tenant", entry.tenant.name}, {"device", std::to_string(device)}},
                     value(*market, *load));
      }
    }
  };
  using sched::oversell::Load;
  of_holders("fairgv_bought_share", "Part of the device that the tenant has bought", MetricType::Gauge,
             [](const Market&, const Load& load) { return load.initial.fraction(); });
  of_holders("fairgv_cap_share", "Part of the device that it may use now", MetricType::Gauge,
             [](const Market& market, const Load& load) { return market.cap(load.id).fraction(); });
  of_holders("fairgv_service_target", "Units of service in a second that it is to have; 0: none",
             MetricType::Gauge, [](const Market&, const Load& load) { return load.target; });
  of_holders("fairgv_service_level", "Units of service that it has had in a second of late",
             MetricType::Gauge, [](const Market&, const Load& load) { return load.level; });
  of_holders("fairgv_service_broken_seconds_total", "Seconds in which its service was below its target",
             MetricType::Counter,
             [](const Market& market, const Load& load) { return market.broken_seconds(load.id); });
}

void add_promises(Families& families, const Books& books) {
  of_tenants(families, books, "fairgv_tenant_min_share",
             "Part of each device that is guaranteed to the tenant while it has work", MetricType::Gauge,
             [](const TenantEntry& entry) { return entry.tenant.attributes.min.share().fraction(); });
  of_tenants(families, books, "fairgv_tenant_max_share",
             "The most of each device that the tenant may use in any second", MetricType::Gauge,
             [](const TenantEntry& entry) { return entry.tenant.attributes.max.fraction(); });
  families.begin("fairgv_tenant_class", "The tenant's class of service; always 1", MetricType::Gauge);
  for (const TenantEntry& entry : books.tenants) {
    families.add(
        {{"tenant", entry.tenant.name}, {"class", session::to_text(entry.tenant.attributes.service)}}, 1.0);
  }
}

void add_tenants(Families& families, const Books& books) {
  of_tenants(families, books, "fairgv_tenant_weight", "The tenant's weight", MetricType::Gauge,
             [](const TenantEntry& entry) { return std::uint64_t{entry.tenant.attributes.weight}; });
  add_promises(families, books);
  of_tenants(families, books, "fairgv_sessions", "Programs of the tenant that run", MetricType::Gauge,
             [](const TenantEntry& entry) { return std::uint64_t{entry.sessions}; });
  of_tenants(families, books, "fairgv_paused_sessions",
             "Programs of the tenant that run and get no turn, because they or the tenant are paused",
             MetricType::Gauge, [](const TenantEntry& entry) { return std::uint64_t{entry.paused}; });
  of_tenants(families, books, "fairgv_tenant_paused", "1 if the tenant is paused (fairgv pause)",
             MetricType::Gauge,
             [](const TenantEntry& entry) { return std::uint64_t{entry.tenant.paused ? 1U : 0U}; });
  of_tenants(families, books, "fairgv_sessions_started_total", "Programs of the tenant that were started",
             MetricType::Counter, [](const TenantEntry& entry) { return entry.tenant.counts.sessions; });
  families.begin("fairgv_session_faults_total",
                 "Sessions that ended otherwise than by their program: the worker crashed, the watchdog "
                 "killed it, or a protocol was violated",
                 MetricType::Counter);
  for (const TenantEntry& entry : books.tenants) {
    const TenantCounts& counts = entry.tenant.counts;
    const auto add = [&](const char* reason, std::uint64_t value) {
      families.add({{"tenant", entry.tenant.name}, {"reason", reason}}, value);
    };
    add("crash", counts.crashes);
    add("watchdog", counts.watchdog);
    add("violation", counts.violations);
  }
}

void add_time(Families& families, const Books& books) {
  of_uses(families, books, "fairgv_device_seconds_total", "Device time that was charged to the tenant",
          MetricType::Counter,
          [](const TenantEntry&, const DeviceBooks& device) { return in_seconds(device.use.device_time); });
  of_uses(families, books, "fairgv_outside_seconds_total",
          "Device time among it that was charged for processors used without a turn", MetricType::Counter,
          [](const TenantEntry&, const DeviceBooks& device) { return in_seconds(device.use.outside); });
  of_uses(families, books, "fairgv_entitled_seconds_total",
          "Device time that the tenant's weight and promises entitled it to while it had sessions",
          MetricType::Counter,
          [](const TenantEntry&, const DeviceBooks& device) { return in_seconds(device.entitled); });
  of_uses(families, books, "fairgv_share_ratio",
          "The tenant's part of the device time that all used in the last half second", MetricType::Gauge,
          [](const TenantEntry&, const DeviceBooks& device) { return device.share; });
  of_uses(families, books, "fairgv_entitled_share_ratio",
          "The tenant's guarantee, and by weight a part of the rest, up to its ceiling", MetricType::Gauge,
          [](const TenantEntry&, const DeviceBooks& device) { return device.entitled_share; });
  of_uses(families, books, "fairgv_wait_seconds", "How long sessions waited for a turn on the device",
          MetricType::Histogram,
          [](const TenantEntry&, const DeviceBooks& device) { return device.use.waits; });
  of_uses(families, books, "fairgv_queued_sessions", "Sessions with work: they wait for the device or use it",
          MetricType::Gauge,
          [](const TenantEntry&, const DeviceBooks& device) { return std::uint64_t{device.use.queue}; });
  of_uses(families, books, "fairgv_held_back",
          "1 if the tenant has work and waits because its ceiling is reached", MetricType::Gauge,
          [](const TenantEntry&, const DeviceBooks& device) {
            return std::uint64_t{device.use.held_back ? 1U : 0U};
          });
  of_uses(
      families, books, "fairgv_interactive_sessions",
      "Sessions whose programs wait so often that they are woken with their turns", MetricType::Gauge,
      [](const TenantEntry&, const DeviceBooks& device) { return std::uint64_t{device.use.interactive}; });
}

void add_work(Families& families, const Books& books) {
  const auto add = [&](const char* name, const char* help, std::uint64_t WorkCounters::*counter) {
    of_uses(families, books, name, help, MetricType::Counter,
            [counter](const TenantEntry&, const DeviceBooks& device) { return device.use.work.*counter; });
  };
  add("fairgv_commands_total", "Commands that ended on the device", &WorkCounters::commands);
  add("fairgv_launches_total", "Kernel launches among the commands", &WorkCounters::launches);
  add("fairgv_slices_total", "Parts into which launches were cut", &WorkCounters::slices);
  add("fairgv_moved_bytes_total", "Bytes that reads, writes, copies and fills were to move",
      &WorkCounters::bytes);
  add("fairgv_service_units_total", "Units of service that the tenant's programs have done",
      &WorkCounters::units);
  add("fairgv_sampled_commands_total", "Commands that were measured one by one", &WorkCounters::samples);
  add("fairgv_accounting_syncs_total", "Synchronisations that were made for accounting",
      &WorkCounters::syncs);
}

void add_memory(Families& families, const Books& books) {
  of_uses(families, books, "fairgv_memory_bytes", "Memory of the device that the tenant holds",
          MetricType::Gauge,
          [](const TenantEntry&, const DeviceBooks& device) { return device.memory_used; });
  of_uses(families, books, "fairgv_memory_limit_bytes", "The most memory of the device that it may hold",
          MetricType::Gauge,
          [](const TenantEntry&, const DeviceBooks& device) { return limit_of(device.memory.limit); });
  of_uses(families, books, "fairgv_memory_reserve_bytes", "Memory of the device that is kept free for it",
          MetricType::Gauge,
          [](const TenantEntry&, const DeviceBooks& device) { return device.memory.reserve; });
  of_uses(families, books, "fairgv_memory_byte_seconds_total", "Memory that the tenant held, over time",
          MetricType::Counter,
          [](const TenantEntry&, const DeviceBooks& device) { return device.memory_totals.byte_seconds; });
  of_uses(families, books, "fairgv_memory_refusals_total",
          "Allocations that were refused: beyond the tenant's limit, or the device is full",
          MetricType::Counter,
          [](const TenantEntry&, const DeviceBooks& device) { return device.memory_totals.refusals; });
}

void add_usage(Families& families, const UsageWriter::State& usage) {
  families.begin("fairgv_usage_store_up", "1 if the usage store could be written when that was last tried",
                 MetricType::Gauge);
  families.add({}, usage.error.empty() ? 1.0 : 0.0);
  families.begin("fairgv_usage_store_flushes_total", "Flushes to the usage store", MetricType::Counter);
  families.add({}, usage.flushes);
  families.begin("fairgv_usage_store_failures_total", "Attempts to write the usage store that failed",
                 MetricType::Counter);
  families.add({}, usage.failures);
  families.begin("fairgv_usage_store_last_flush_timestamp_seconds",
                 "When the usage store was last flushed, since 1970; 0: never", MetricType::Gauge);
  families.add({}, static_cast<double>(usage.last_flush_ms) / 1e3);
}

}  // namespace

std::string metrics_text(const Sources& from, const DaemonLife& life, const Books& books,
                         const std::optional<UsageWriter::State>& usage) {
  Families families;
  add_daemon(families, life, from.tenancies.registry(), books.at);
  add_devices(families, from);
  add_overselling(families, from, books);
  add_tenants(families, books);
  add_time(families, books);
  add_work(families, books);
  add_memory(families, books);
  add_lending(families, from, books);
  if (usage) add_usage(families, *usage);
  return families.text();
}

}  // namespace fairgv::daemon
