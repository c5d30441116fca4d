#include "runtime/daemon/oversell/markets.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "runtime/daemon/service/deadlines.hpp"

namespace fairgv::daemon {
namespace {

using sched::Share;

constexpr std::uint32_t kTenthOfAPercent = Share::kWholePpm / 1'000;

Market::Settings market_settings(const DeviceRule& rule) {
  Market::Settings settings{.sell_up_to = rule.oversell_limit};
  if (rule.oversell_ratio)
    settings.fixed_ratio = sched::oversell::StaticOversubscription{*rule.oversell_ratio};
  return settings;
}

bool same_settings(const Market::Settings& a, const Market::Settings& b) {
  const auto ratio = [](const Market::Settings& settings) {
    return settings.fixed_ratio ? settings.fixed_ratio->ratio : 0;
  };
  return a.sell_up_to == b.sell_up_to && ratio(a) == ratio(b);
}

Error sale_refusal(const std::string& tenant, Share wanted, std::uint32_t device, const Market& market,
                   TenantId id) {
  const Share has = market.bought(id);
  // As people would write it: rounded down to a tenth of a per cent.
  const Share most{std::min(has.ppm + market.for_sale().ppm, Share::kWholePpm) / kTenthOfAPercent *
                   kTenthOfAPercent};
  std::string text = "tenant '" + tenant + "' cannot have " + session::to_text(wanted) + " of device " +
                     std::to_string(device) + ": ";
  if (most.ppm == 0) return Error{text + "nothing of it is for sale now; try again later"};
  text += has.ppm > 0 ? "it can have " + session::to_text(most)
                      : session::to_text(most) + " of it is for sale now";
  return Error{text + " (max, --max, FAIRGV_MAX)"};
}

}  // namespace

// -- tenants

Market& Markets::market_of(std::uint32_t hardware) {
  const auto found = markets_.find(hardware);
  if (found != markets_.end()) return found->second;
  return markets_.try_emplace(hardware, market_settings(needs_.config.devices.of(hardware))).first->second;
}

/// As the books number them, each once.
std::vector<std::uint32_t> Markets::oversold(const DeviceView& devices) const {
  std::vector<std::uint32_t> list = devices.through(needs_.devices.hardware).shown();
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  std::erase_if(list, [&](std::uint32_t device) { return !needs_.config.devices.of(device).oversell; });
  return list;
}

Result<void> Markets::sell(const Tenant& tenant, const DeviceView& devices) {
  const Share wanted = tenant.attributes.max;
  std::vector<Market*> sellers;
  for (const std::uint32_t device : oversold(devices)) {
    Market& market = market_of(device);
    if (market.knows(tenant.id)) continue;
    if (wanted > market.for_sale()) return sale_refusal(tenant.name, wanted, device, market, tenant.id);
    sellers.push_back(&market);
  }
  for (Market* const market : sellers) market->sell(tenant.id, wanted, tenant.attributes.units_per_second);
  return {};
}

Result<void> Markets::would_sell(const std::string& tenant, const Result<Share>& max) const {
  TenantId id{};
  for (const Tenant& each : needs_.tenants.all()) {
    if (each.name == tenant) id = each.id;
  }
  Result<void> answer;
  for (std::uint32_t device = 0; device < needs_.devices.size() && max; ++device) {
    if (needs_.devices.is_elsewhere(device)) continue;
    const Market* const market = of(device);
    if (market == nullptr) return {};
    const Share has = market->bought(id);
    const Share wanted{max->ppm - std::min(has.ppm, max->ppm)};
    if (wanted <= market->for_sale()) return {};
    if (answer) answer = sale_refusal(tenant, max.value(), device, *market, id);
  }
  return answer;
}

Result<void> Markets::may_change(TenantId id, Share max) const {
  for (const auto& [device, market] : markets_) {
    if (!market.knows(id) || max <= market.bought(id)) continue;
    const Share has = market.bought(id);
    if (max.ppm - has.ppm <= market.for_sale().ppm) continue;
    return sale_refusal(name_of(id), max, device, market, id);
  }
  return {};
}

void Markets::change(const Tenant& tenant) {
  for (auto& [device, market] : markets_) {
    if (!market.knows(tenant.id)) continue;
    market.set_target(tenant.id, tenant.attributes.units_per_second);
    const Share has = market.bought(tenant.id);
    if (has == tenant.attributes.max || market.resize(tenant.id, tenant.attributes.max)) continue;
    spdlog::warn("tenant {} keeps {} of device {}: {} is not for sale", tenant.name, session::to_text(has),
                 device, session::to_text(tenant.attributes.max));
  }
  apply();
}

void Markets::settle(TenantId id, const std::vector<std::uint32_t>& seen) {
  for (auto& [device, market] : markets_) {
    if (!market.knows(id)) continue;
    const bool stays = std::any_of(seen.begin(), seen.end(), [&, hardware = device](std::uint32_t each) {
      return needs_.devices.hardware[each] == hardware;
    });
    if (stays) continue;
    market.remove(id);
    needs_.dispatch.set_caps(device, {{id, std::nullopt}});
  }
}

void Markets::apply() {
  for (auto& [device, market] : markets_) set_caps(device, market);
}

void Markets::set_caps(std::uint32_t device, Market& market) const {
  const auto caps = market.take_caps();
  for (const TenantCap& each : caps) {
    spdlog::debug("device {}: the cap of tenant {} is {}", device, name_of(each.id),
                  each.cap ? session::to_text(*each.cap) : "its ceiling");
  }
  if (!caps.empty()) needs_.dispatch.set_caps(device, caps);
}

// -- the configuration, and a daemon before this one

void Markets::configure() {
  for (std::uint32_t device = 0; device < needs_.devices.size(); ++device) {
    if (needs_.devices.is_elsewhere(device)) continue;
    const DeviceRule& rule = needs_.config.devices.of(device);
    const auto found = markets_.find(device);
    if (!rule.oversell) {
      if (found != markets_.end()) close(device);
      continue;
    }
    const Market::Settings settings = market_settings(rule);
    if (found != markets_.end() && !same_settings(found->second.controller().settings(), settings))
      reopen(device, settings);
    take_in_present(device);
  }
  for (const Tenant& tenant : needs_.tenants.all()) change(tenant);
  follow_policies();
}

void Markets::close(std::uint32_t device) {
  std::vector<TenantCap> caps;
  for (const TenantId id : markets_.at(device).tenants()) caps.push_back({id, std::nullopt});
  markets_.erase(device);
  needs_.dispatch.set_caps(device, caps);
}

void Markets::reopen(std::uint32_t device, const Market::Settings& settings) {
  const Market before = std::exchange(markets_.at(device), Market(settings));
  Market& market = markets_.at(device);
  for (const TenantId id : before.tenants()) {
    market.take_over(id, before.bought(id), before.cap(id), before.load(id)->target);
  }
}

/// Tenants that came before the device was oversold.
void Markets::take_in_present(std::uint32_t device) {
  std::vector<const Tenant*> present;
  std::uint64_t wanted = 0;
  for (const TenantReading& reading : needs_.dispatch.looks().reading(device).tenants) {
    const Tenant* const tenant = needs_.tenants.find(reading.id);
    if (tenant == nullptr || market_of(device).knows(reading.id)) continue;
    present.push_back(tenant);
    wanted += tenant->attributes.max.ppm;
  }
  if (present.empty()) return;
  std::sort(present.begin(), present.end(),
            [](const Tenant* a, const Tenant* b) { return a->id.value < b->id.value; });
  Market& market = market_of(device);
  const std::uint64_t room = market.controller().free().ppm;
  for (const Tenant* const tenant : present) {
    const std::uint64_t max = tenant->attributes.max.ppm;
    const Share cap{static_cast<std::uint32_t>(wanted <= room ? max : max * room / wanted)};
    market.take_over(tenant->id, tenant->attributes.max, cap, tenant->attributes.units_per_second);
  }
}

std::vector<Holding> Markets::holdings(TenantId id) const {
  std::vector<Holding> list;
  for (const auto& [device, market] : markets_) {
    if (market.knows(id)) list.push_back({device, market.bought(id), market.cap(id)});
  }
  return list;
}

void Markets::restore(const Tenant& tenant, const std::vector<Holding>& holdings) {
  for (const Holding& each : holdings) {
    if (each.device >= needs_.devices.size() || needs_.devices.is_elsewhere(each.device)) continue;
    if (!needs_.config.devices.of(each.device).oversell) continue;
    market_of(each.device).take_over(tenant.id, each.bought, each.cap, tenant.attributes.units_per_second);
  }
  apply();
}

// -- time

void Markets::follow_policy(Market& market, const std::string& policy) const {
  market.set_resting(policy != sched::oversell::kPolicy);
}

void Markets::follow_policies() {
  for (auto& [device, market] : markets_) {
    follow_policy(market, needs_.dispatch.looks().reading(device).policy);
    set_caps(device, market);
  }
}

std::optional<Markets::Time> Markets::deadline() const {
  std::optional<Time> first;
  for (const auto& [device, market] : markets_) {
    if (!market.empty()) keep_earlier(first, std::optional<Time>(market.next_look()));
  }
  return first;
}

void Markets::expire(Time now) {
  for (auto& [device, market] : markets_) {
    if (market.empty() || now < market.next_look()) continue;
    const DeviceReading reading = needs_.dispatch.looks().reading(device);
    follow_policy(market, reading.policy);
    market.look(reading.tenants, now);
    set_caps(device, market);
    if (market.report().warning) warn(device, market, now);
  }
}

void Markets::warn(std::uint32_t device, const Market& market, Time now) {
  const auto found = warned_.find(device);
  if (found != warned_.end() && now - found->second < kWarnEvery) return;
  warned_[device] = now;
  std::string names;
  for (const auto& each : market.report().overloaded) names += (names.empty() ? "" : ", ") + name_of(each.id);
  const auto to = needs_.config.devices.of(device).oversell_move_to;
  spdlog::warn("device {} is overloaded: {} have less than they bought and need more; {}", device, names,
               to ? "fairgvd moves sessions to device " + std::to_string(*to)
                  : "a program should move to another device, and fairgvd moves none (oversell_move_to)");
}

// -- looking

const Market* Markets::of(std::uint32_t device) const {
  const auto found = markets_.find(device);
  return found == markets_.end() ? nullptr : &found->second;
}

std::vector<std::uint32_t> Markets::overloaded() const {
  std::vector<std::uint32_t> list;
  for (const auto& [device, market] : markets_) {
    if (!market.is_resting() && market.report().warning) list.push_back(device);
  }
  return list;
}

std::string Markets::name_of(TenantId id) const {
  const Tenant* const tenant = needs_.tenants.find(id);
  return tenant == nullptr ? "?" : tenant->name;
}

}  // namespace fairgv::daemon
