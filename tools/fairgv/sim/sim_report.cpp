#include "tools/fairgv/sim/sim_report.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace fairgv::tools {
namespace {

using sched::Duration;
using sched::SimulationResult;
using sched::SimulationSettings;

double ms(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

double part(Duration time, Duration of) {
  return ms(time) / ms(of);
}

/// Sorts the waits. 0 when there are none.
Duration percentile(std::vector<Duration>& waits, std::size_t percent) {
  if (waits.empty()) return Duration(0);
  std::sort(waits.begin(), waits.end());
  return waits[(waits.size() - 1) * percent / 100];
}

/// One tenant on one device, or all tenants of a kind on all devices.
struct Row {
  std::size_t tenants = 0;  // and devices
  double entitled = 0;      // shares of the whole time: sums
  double received = 0;
  Duration lag{Duration::min()};  // the largest
  Duration longest_turn{0};
  std::vector<Duration> waits;

  void add(double entitled_share, const sched::TenantOutcome& tenant, Duration length) {
    ++tenants;
    entitled += entitled_share;
    received += part(tenant.used, length);
    const auto due =
        std::chrono::round<Duration>(entitled_share * std::chrono::duration<double, std::nano>(length));
    lag = std::max(lag, due - tenant.used);
    longest_turn = std::max(longest_turn, tenant.longest_turn);
    waits.insert(waits.end(), tenant.waits.begin(), tenant.waits.end());
  }
};

Row row_of(const SimulationSettings& settings, const SimulationResult& result, std::size_t device,
           std::size_t tenant) {
  Row row;
  row.add(result.entitled[tenant], result.devices[device].tenants[tenant], settings.length);
  return row;
}

/// "3-15 ms", or "6 ms" if it is always the same.
std::string to_text(const sched::SliceRule& slices) {
  if (slices.is_constant()) return fmt::format("{:g} ms", ms(slices.least));
  return fmt::format("{:g}-{:g} ms", ms(slices.least), ms(slices.most));
}

}  // namespace

void print_simulation(const SimulationSettings& settings, const SimulationResult& result) {
  std::vector<Row> kinds(settings.kinds.size());
  Duration busy{0}, idle{0};
  for (const sched::DeviceOutcome& device : result.devices) {
    busy += device.busy;
    idle += device.idle_though_wanted;
    for (std::size_t tenant = 0; tenant < result.tenants.size(); ++tenant) {
      kinds[result.kind[tenant]].add(result.entitled[tenant], device.tenants[tenant], settings.length);
    }
  }
  fmt::print("{}, slice {}, {:g} s, seed {}\n", settings.policy, to_text(settings.slices),
             ms(settings.length) / 1e3, settings.seed);
  fmt::print("  {:>7} {:>6} {:>10} {:>6} {:>8} {:>9} {:>9} {:>10} {:>10} {:>10}\n", "tenants", "weight",
             "kernel", "sleep", "sessions", "entitled", "received", "worst lag", "wait p50", "wait p99");
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const sched::TenantSpec& spec = settings.kinds[kind];
    Row& row = kinds[kind];
    const auto tenants = static_cast<double>(row.tenants);
    fmt::print(
        "  {:>7} {:>6} {:>7g} us {:>4.0f} % {:>8} {:>7.2f} % {:>7.2f} % {:>7.1f} ms {:>7.2f} ms {:>7.2f} "
        "ms\n",
        spec.count, spec.attributes.weight, ms(spec.kernel) * 1e3, 100 * spec.sleep, spec.sessions,
        100 * row.entitled / tenants, 100 * row.received / tenants, ms(row.lag),
        ms(percentile(row.waits, 50)), ms(percentile(row.waits, 99)));
  }
  const Duration all = settings.length * static_cast<std::int64_t>(result.devices.size());
  fmt::print("  {} {}: in use {:.2f} % of the time, idle while somebody waited {:.2f} %\n",
             result.devices.size(), result.devices.size() == 1 ? "device" : "devices", 100 * part(busy, all),
             100 * part(idle, all));
}

void write_csv_header(std::FILE* file) {
  fmt::print(file,
             "policy,slice_ms,device,tenant,kind,weight,kernel_us,sleep,sessions,entitled,received,lag_ms,"
             "longest_turn_ms,wait_p50_ms,wait_p99_ms\n");
}

void write_csv(std::FILE* file, const SimulationSettings& settings, const SimulationResult& result) {
  for (std::size_t device = 0; device < result.devices.size(); ++device) {
    for (std::size_t tenant = 0; tenant < result.tenants.size(); ++tenant) {
      const sched::TenantSpec& spec = result.tenants[tenant];
      Row row = row_of(settings, result, device, tenant);
      fmt::print(file, "{},{:g},{},{},{},{},{:g},{:g},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f}\n",
                 settings.policy, ms(settings.slices.of(result.tenants.size())), device, tenant,
                 result.kind[tenant], spec.attributes.weight, ms(spec.kernel) * 1e3, spec.sleep,
                 spec.sessions, row.entitled, row.received, ms(row.lag), ms(row.longest_turn),
                 ms(percentile(row.waits, 50)), ms(percentile(row.waits, 99)));
    }
  }
}

nlohmann::json to_json(const SimulationSettings& settings, const SimulationResult& result) {
  nlohmann::json devices = nlohmann::json::array();
  for (std::size_t device = 0; device < result.devices.size(); ++device) {
    nlohmann::json tenants = nlohmann::json::array();
    for (std::size_t tenant = 0; tenant < result.tenants.size(); ++tenant) {
      Row row = row_of(settings, result, device, tenant);
      tenants.push_back({{"kind", result.kind[tenant]},
                         {"weight", result.tenants[tenant].attributes.weight},
                         {"entitled", row.entitled},
                         {"received", row.received},
                         {"lag_ms", ms(row.lag)},
                         {"longest_turn_ms", ms(row.longest_turn)},
                         {"turns", row.waits.size()},
                         {"wait_p50_ms", ms(percentile(row.waits, 50))},
                         {"wait_p99_ms", ms(percentile(row.waits, 99))}});
    }
    devices.push_back(
        {{"utilisation", part(result.devices[device].busy, settings.length)},
         {"idle_though_wanted", part(result.devices[device].idle_though_wanted, settings.length)},
         {"tenants", std::move(tenants)}});
  }
  return {{"policy", settings.policy},
          {"slice_ms", ms(settings.slices.of(result.tenants.size()))},
          {"seconds", ms(settings.length) / 1e3},
          {"seed", settings.seed},
          {"devices", std::move(devices)}};
}

}  // namespace fairgv::tools
