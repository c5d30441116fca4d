#include "runtime/daemon/config/values/memory.hpp"

#include <limits>

#include "runtime/daemon/config/options.hpp"

namespace fairgv::daemon {
namespace {

/// Whether `a` is more than `b` on every device; false if that depends on the device.
bool is_more(const MemorySize& a, const MemorySize& b) {
  if (a.percent.has_value() != b.percent.has_value()) return false;
  return a.percent ? *a.percent > *b.percent : a.bytes > b.bytes;
}

/// All reserves, those in bytes and those in per cent apart.
struct Reserves {
  std::uint64_t bytes = 0;  // or the largest number if they are beyond 64 bits
  std::uint64_t percent = 0;
};

Reserves sum_of(const TenantRules& rules) {
  Reserves sum;
  for (const auto& [name, rule] : rules.by_name) {
    if (!rule.memory_reserve) continue;
    if (__builtin_add_overflow(sum.bytes, rule.memory_reserve->bytes, &sum.bytes)) {
      sum.bytes = std::numeric_limits<std::uint64_t>::max();
    }
    sum.percent += rule.memory_reserve->percent.value_or(0);
  }
  return sum;
}

/// The place of the reserve that comes last by name: it is as wrong as any other.
ConfigPlace last_reserve(const Settings& settings) {
  ConfigPlace place;
  for (const auto& [name, section] : settings.tenants) {
    if (const auto found = section.values.find("memory_reserve"); found != section.values.end()) {
      place = found->second.place;
    }
  }
  return place;
}

/// Reserves beyond their tenants' limits.
void check_limits(const Config& config, const Settings& settings, ConfigErrors& errors) {
  for (const auto& [name, own] : config.tenants.by_name) {
    const TenantRule rule = config.tenants.of(name);
    const MemorySize limit = rule.memory.value_or(config.tenants.default_memory);
    if (rule.memory_reserve && is_more(*rule.memory_reserve, limit)) {
      errors.add(settings.tenants.at(name).values.at("memory_reserve").place,
                 "memory_reserve in " + tenant_title(name) + " is more than its memory, " + to_text(limit) +
                     ": lower the one or raise the other");
    }
  }
}

/// Checks whether the sum of the reserves in bytes is more than this device has.
void check_sum(const Reserves& sum, const DeviceRule& device, const std::string& title,
               const Settings& settings, ConfigErrors& errors) {
  if (!device.memory || !is_more({sum.bytes}, *device.memory)) return;
  errors.add(last_reserve(settings), "the memory_reserve of all tenants together is " +
                                         to_text(MemorySize{sum.bytes}) + " and " + title + " has " +
                                         to_text(*device.memory) + " to share out: lower some of them");
}

}  // namespace

void check_memory(const Config& config, const Settings& settings, ConfigErrors& errors) {
  if (!settings.knows({"memory", "memory_reserve", "default_memory", "class"})) return;
  check_limits(config, settings, errors);
  const Reserves sum = sum_of(config.tenants);
  if (sum.percent > 100) {
    errors.add(last_reserve(settings), "the memory_reserve of all tenants together is " +
                                           std::to_string(sum.percent) +
                                           "%: a device has 100%: lower some of them");
  }
  check_sum(sum, config.devices.common, "[device]", settings, errors);
  for (const auto& [index, rule] : config.devices.by_index) {
    if (rule.memory == config.devices.common.memory) continue;  // told already
    check_sum(sum, rule, device_title(index), settings, errors);
  }
}

}  // namespace fairgv::daemon
