#include "runtime/daemon/sessions/placements.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "sched/promises/promises.hpp"

namespace fairgv::daemon {
namespace {

std::uint64_t bit_of(std::uint64_t device) {
  return std::uint64_t{1} << device;
}

std::string expectation_text(const sched::ExpectedShare& expected) {
  return fmt::format("{:.1f}% of it to be expected", 100 * expected.share.fraction());
}

Error no_device(const std::string& tenant, const std::vector<std::string>& passed_over) {
  return Error{
      fmt::format("no device can take a program of tenant '{}': {}", tenant, fmt::join(passed_over, "; "))};
}

Error all_drained(const std::string& tenant, std::uint64_t devices, const DeviceTable& table) {
  std::uint64_t failed = 0;
  for (const auto& [device, reason] : table.failed) failed |= bit_of(device);
  const char* const why = (devices & ~failed) == 0 ? "has failed" : "is drained (fairgv drain)";
  return Error{fmt::format("device {} {}, and a program of tenant '{}' may use no other: try again later",
                           device_list(devices), why, tenant)};
}

/// The host's devices that are these of the worker's, a bit each.
std::uint64_t host_set_of(const DeviceView& view, std::uint64_t workers) {
  std::uint64_t hosts = 0;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if ((workers >> i & 1U) != 0) hosts |= bit_of(view.host(i));
  }
  return hosts;
}

/// The hardware of the devices where the session may run, a bit each.
std::uint64_t home_set_of(const Session& session, const DeviceTable& table) {
  std::uint64_t homes = 0;
  for (const std::uint32_t device : session.moved.places_in(session.devices).shown())
    homes |= bit_of(table.hardware[device]);
  return homes;
}

}  // namespace

// ---- profiles

/// Made anew when the table has grown: a device without a known speed makes those of its platform equal.
sched::DeviceChoice& Placements::choice() {
  if (choice_ && choice_->size() == table_.size()) return *choice_;
  choice_.emplace();
  for (std::uint32_t device = 0; device < table_.size(); ++device) choice_->add(profile_of(device));
  refusals_.resize(table_.size());
  for (const auto& [id, placed] : placed_) place_again(placed);
  for (auto& [id, known] : known_) known.seen.clear();
  return *choice_;
}

sched::DeviceProfile Placements::profile_of(std::uint32_t device) const {
  const DeviceRule& rule = config_.devices.of(device);
  const auto speed_of = [this](std::uint32_t each) {
    return config_.devices.of(each).speed.value_or(table_.devices[each].speed);
  };
  bool known = true;
  for (std::uint32_t each = 0; each < table_.size(); ++each) {
    if (table_.devices[each].platform == table_.devices[device].platform && speed_of(each) == 0)
      known = false;
  }
  const std::uint64_t capacity = tenancies_.memory().capacities()[device];
  return {.speed = known ? speed_of(device) : 1,
          .memory = capacity == memquota::kUnlimited ? 0 : capacity,
          .bandwidth = rule.bandwidth.value_or(0),
          // None of what is the same hardware as a device before it.
          .type = table_.is_elsewhere(device) ? std::uint64_t{0} : 1,
          .promise_limit = config_.tenants.promise_limit};
}

sched::TenantProfile Placements::profile_of(const Tenant& tenant) const {
  return {.attributes = tenant.attributes,
          .memory = config_.tenants.of(tenant.name, tenant.class_name).expected_memory.value_or(0)};
}

// ---- choosing

/// Of these devices, which are hardware of their own, the one for one more session of the tenant.
Placements::Pick Placements::pick(const std::vector<std::uint32_t>& candidates, TenantId id,
                                  const std::string& name, sched::TenantProfile profile) {
  sched::DeviceChoice& choice = this->choice();
  const PromiseSums kept = tenancies_.registry().kept_for_absent();
  const memquota::Ledger& ledger = tenancies_.memory().ledger();
  for (const std::uint32_t device : candidates) {
    // The batch class has its floor from the first of its tenants on; it is kept for that one.
    const bool floor_counts =
        choice.load(device).batch_weight > 0 || profile.attributes.service == sched::ServiceClass::batch;
    const sched::Share floor = floor_counts ? sched::Share{} : sched::Promises::kBatchFloor.share();
    choice.set_promised_elsewhere(device, {kept.on(device).ppm + floor.ppm});
    choice.set_elsewhere(device, ledger.kept_from(name, device));
  }
  profile.devices = candidates;
  const sched::DeviceChoice::Answer answer = choice.choose(id, profile);
  Pick picked{.device = answer.device, .expected = answer.expected, .passed_over = {}};
  for (const std::uint32_t device : candidates) {
    if (picked.device == device) continue;
    const auto refusal = choice.refusal(device, id, profile);
    if (refusal) picked.refused.push_back(*refusal);
    picked.passed_over.push_back(fmt::format(
        "device {}: {}", device,
        refusal ? refusal->why() : expectation_text(choice.expected(device, id, profile.attributes))));
  }
  return picked;
}

/// The worker's devices for the session, a bit each: one of each platform. Programs of CUDA see the devices
/// of all drivers as one platform.
Result<std::uint64_t> Placements::choose(const Tenant& tenant, const DevicesWanted& wanted,
                                         std::uint64_t nameable, Session& session) {
  const DeviceView& view = session.devices;
  std::map<std::string, std::vector<std::uint32_t>> platforms;  // hardware
  const auto is_candidate = [&](std::size_t i) {
    return (nameable >> i & 1U) != 0 && wanted.may_be(view.host(i)) && !table_.is_drained(view.host(i));
  };
  const auto platform_of = [&](std::size_t i) {
    return session.api == session::Api::cuda ? std::string() : table_.devices[view.host(i)].platform;
  };
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (!is_candidate(i)) continue;
    std::vector<std::uint32_t>& list = platforms[platform_of(i)];
    const std::uint32_t hardware = table_.hardware[view.host(i)];
    if (std::find(list.begin(), list.end(), hardware) == list.end()) list.push_back(hardware);
  }
  std::uint64_t shown = 0;
  for (const auto& [platform, candidates] : platforms) {
    Pick picked = pick(candidates, tenant.id, tenant.name, profile_of(tenant));
    session.passed_over.insert(session.passed_over.end(), picked.passed_over.begin(),
                               picked.passed_over.end());
    for (const sched::DeviceRefusal& refusal : picked.refused) {
      Refusals& counted = refusals_[refusal.device];
      ++(refusal.reason == sched::DeviceRefusal::Reason::memory ? counted.memory : counted.guarantee);
    }
    for (std::size_t i = 0; picked.device && i < view.size(); ++i) {
      if (!is_candidate(i) || platform_of(i) != platform) continue;
      if (table_.hardware[view.host(i)] != *picked.device) continue;
      shown |= bit_of(i);
      break;
    }
  }
  if (shown != 0 || platforms.empty()) return shown;
  return no_device(tenant.name, session.passed_over);
}

/// The worker's devices that are drained, a bit each.
std::uint64_t Placements::drained_in(const DeviceView& view) const {
  std::uint64_t drained = 0;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (table_.is_drained(view.host(i))) drained |= bit_of(i);
  }
  return drained;
}

Result<void> Placements::place(Session& session, std::uint64_t nameable) {
  const std::uint64_t drained = drained_in(session.devices);
  if (!on() && drained == 0) return {};
  const Tenant& tenant = *tenancies_.registry().find(session.tenant);
  const DevicesWanted wanted = config_.tenants.devices_of(tenant.name, tenant.class_name);
  DeviceView& view = session.devices;
  const std::uint64_t all = bit_of(view.size()) - 1;
  std::uint64_t allowed = 0;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (wanted.may_be(view.host(i))) allowed |= bit_of(i);
  }
  std::uint64_t shown = allowed & ~drained;
  if (wanted.best) {
    FAIRGV_TRY(chosen, choose(tenant, wanted, nameable, session));
    shown = chosen.value();
  }
  // Where the program can name none at all, the reason is another one, and its front end has it.
  if ((nameable & all) == 0) shown = all;
  const std::uint64_t lost = allowed & nameable & drained;
  if (lost != 0 && (shown & nameable) == 0) {
    return all_drained(tenant.name, host_set_of(view, lost), table_);
  }
  if ((shown & nameable) == 0 && !wanted.all()) {
    return Error{fmt::format(
        "tenant '{}' may use device {} (devices in the configuration), which its program does not see",
        tenant.name, device_list(wanted.devices))};
  }
  view.hide(all & ~shown);
  if (session::TurnPromises* const told = session.turns.promises()) {
    for (std::size_t i = 0; i < view.size(); ++i)
      told->devices[i].hidden.store(view.hides(i) ? 1 : 0, std::memory_order_relaxed);
  }
  if (on()) note(session);
  return {};
}

void Placements::adopt(const Session& session) {
  if (on()) note(session);
}

/// The session counts from now on where it may run.
void Placements::note(const Session& session) {
  const Tenant& tenant = *tenancies_.registry().find(session.tenant);
  sched::DeviceChoice& choice = this->choice();  // without it
  Known& known = known_[tenant.id];
  known.name = tenant.name;
  known.attributes = tenant.attributes;
  const Placed& placed =
      placed_.insert_or_assign(session.id, Placed{tenant.id, home_set_of(session, table_)}).first->second;
  for (std::uint32_t device = 0; device < choice.size(); ++device) {
    if ((placed.homes >> device & 1U) != 0) choice.place(device, tenant.id, profile_of(tenant));
  }
  tell_homes(tenant.id);
}

void Placements::place_again(const Placed& placed) {
  const Tenant* const tenant = tenancies_.registry().find(placed.tenant);
  if (tenant == nullptr) return;
  for (std::uint32_t device = 0; device < choice_->size(); ++device) {
    if ((placed.homes >> device & 1U) != 0) choice_->place(device, tenant->id, profile_of(*tenant));
  }
}

void Placements::leave(const Session& session) {
  const auto found = placed_.find(session.id);
  if (found == placed_.end()) return;
  const Placed placed = found->second;
  sched::DeviceChoice& choice = this->choice();  // with it
  placed_.erase(found);
  for (std::uint32_t device = 0; device < choice.size(); ++device) {
    if ((placed.homes >> device & 1U) != 0) choice.leave(device, placed.tenant);
  }
  tell_homes(placed.tenant);
}

void Placements::move(const Session& session) {
  if (!placed_.contains(session.id)) return;
  leave(session);
  note(session);
}

/// A tenant's guarantee counts where its sessions are.
void Placements::tell_homes(TenantId id) {
  std::uint64_t homes = 0;
  for (const std::uint32_t device : choice().devices_of(id)) homes |= bit_of(device);
  if (homes == 0) known_.erase(id);
  tenancies_.registry().set_homes(id, homes);
}

// ---- changes

void Placements::attributes_changed(const Tenant& tenant) {
  const auto found = known_.find(tenant.id);
  if (found == known_.end() || !choice_ || found->second.attributes == tenant.attributes) return;
  found->second.attributes = tenant.attributes;
  choice_->set_profile(tenant.id, profile_of(tenant));
}

void Placements::configure(const Sessions& sessions) {
  begin_anew();
  if (!on()) return;
  for (const auto& [id, session] : sessions.all()) {
    // A worker that is not ready yet has no devices; one that ends still has its memory.
    if (session->devices.size() != 0) note(*session);
  }
}

void Placements::begin_anew() {
  choice_.reset();
  placed_.clear();
  known_.clear();
}

// ---- use

std::optional<Placements::Time> Placements::deadline() const {
  return placed_.empty() ? std::nullopt : std::optional(next_look_);
}

void Placements::expire(Time now) {
  if (now < next_look_ || placed_.empty()) return;
  next_look_ = now + kLook;
  std::vector<TenantId> tenants;
  for (const auto& [id, known] : known_) tenants.push_back(id);
  const auto usage = dispatch_.looks().usage(tenants);
  const memquota::Ledger& ledger = tenancies_.memory().ledger();
  sched::DeviceChoice& choice = this->choice();
  for (auto& [id, known] : known_) {
    const auto used = usage.find(id);
    if (used == usage.end()) continue;
    for (const std::uint32_t device : choice.devices_of(id)) {
      const auto total = used->second.devices[device].device_time;
      const auto [at, is_new] = known.seen.try_emplace(device);
      const Seen before = std::exchange(at->second, Seen{now, total});
      const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(now - before.at);
      if (is_new || passed < kLook / 2 || total < before.used) continue;
      const double part =
          static_cast<double>((total - before.used).count()) / static_cast<double>(passed.count());
      const auto ppm = static_cast<std::uint32_t>(std::min(1.0, part) * sched::Share::kWholePpm);
      choice.measured(device, id, {.time = {ppm}, .memory = ledger.charged(known.name, device)});
    }
  }
}

// ---- looking

std::optional<std::uint64_t> Placements::worth(const Tenant& tenant, std::uint32_t device) {
  if (!on()) return 0;
  const std::uint32_t hardware = table_.hardware[device];
  if (choice().refusal(hardware, tenant.id, profile_of(tenant))) return std::nullopt;
  return choice().weight(hardware, tenant.id, tenant.attributes);
}

Placements::Prospect Placements::prospect(const std::string& tenant, const DevicesWanted& wanted,
                                          const sched::TenantProfile& profile) {
  Prospect prospect;
  std::uint64_t allowed = 0, drained = 0;
  for (std::uint32_t device = 0; device < table_.size(); ++device) {
    if (!wanted.may_be(device)) continue;
    allowed |= bit_of(device);
    if (table_.is_drained(device)) drained |= bit_of(device);
  }
  if (drained != 0 && drained == allowed) prospect.refusal = all_drained(tenant, drained, table_);
  if (!wanted.best || prospect.refusal) return prospect;
  std::map<std::string, std::vector<std::uint32_t>> platforms;
  for (std::uint32_t device = 0; device < table_.size(); ++device) {
    std::vector<std::uint32_t>& list = platforms[table_.devices[device].platform];
    const std::uint32_t hardware = table_.hardware[device];
    if (wanted.may_be(device) && !table_.is_drained(device) &&
        std::find(list.begin(), list.end(), hardware) == list.end())
      list.push_back(hardware);
  }
  TenantId id{};
  for (const auto& [known_id, known] : known_) {
    if (known.name == tenant) id = known_id;
  }
  bool any = false;
  std::vector<std::string> passed_over;
  for (const auto& [platform, candidates] : platforms) {
    if (candidates.empty()) continue;
    const Pick picked = pick(candidates, id, tenant, profile);
    any = any || picked.device;
    if (picked.device) {
      prospect.lines.push_back(
          fmt::format("device {} now, {}", *picked.device, expectation_text(picked.expected)));
    }
    for (const std::string& line : picked.passed_over) {
      prospect.lines.push_back("not " + line);
      passed_over.push_back(line);
    }
  }
  if (!any && !passed_over.empty()) prospect.refusal = no_device(tenant, passed_over);
  return prospect;
}

}  // namespace fairgv::daemon
