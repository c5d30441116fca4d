#include "runtime/daemon/config_services.hpp"

#include "runtime/daemon/metrics_address.hpp"

namespace fairgv::daemon {
namespace {

constexpr double kShortestFlush = 0.1;  // seconds
constexpr double kLongestFlush = 3'600;
constexpr std::int64_t kLongestRetention = 36'500;  // days

}  // namespace

void read_metrics(const toml::table& source, MetricsRule& rule, ConfigErrors& errors) {
  ConfigTable table(source, "[metrics]", errors);
  if (auto listen = table.text("listen")) {
    rule.listen = *listen;
    if (const auto address = parse_metrics_address(*listen); !address) {
      errors.add(source.get("listen")->source(), "listen in [metrics]: " + address.error().message);
    }
  }
  table.finish();
}

void read_usage(const toml::table& source, UsageRule& rule, ConfigErrors& errors) {
  ConfigTable table(source, "[usage]", errors);
  if (auto store = table.text("store")) {
    rule.store = *store;
    if (!rule.store.starts_with('/') || rule.store.ends_with('/')) {
      errors.add(source.get("store")->source(), "store in [usage] must be the absolute path of a file");
    }
  }
  if (auto flush = table.number("flush_s", kShortestFlush, kLongestFlush)) {
    rule.flush = std::chrono::round<std::chrono::nanoseconds>(std::chrono::duration<double>(*flush));
  }
  if (auto days = table.integer("retention_days", 1, kLongestRetention)) {
    rule.retention_days = static_cast<std::uint32_t>(*days);
  }
  table.finish();
}

}  // namespace fairgv::daemon
