#include "sched/choice/device_choice.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "sched/tenant_checks.hpp"

namespace fairgv::sched {
namespace {

// A bound on weights for tenants of any weight takes more than 64 bits.
__extension__ using WideWeight = unsigned __int128;

/// "1.2 GiB", rounded down, so that what is left does not look like enough.
std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  std::uint64_t one = 1;
  while (unit + 1 < std::size(kUnits) && bytes / 1024 >= one) {
    one *= 1024;
    ++unit;
  }
  const std::uint64_t tenths = bytes % one * 10 / one;
  std::string text = std::to_string(bytes / one);
  if (tenths > 0) text += "." + std::to_string(tenths);
  return text + " " + kUnits[unit];
}

std::string percent_text(std::uint64_t ppm) {
  const std::uint64_t tenths = ppm / 1'000 % 10;
  return std::to_string(ppm / 10'000) + (tenths > 0 ? "." + std::to_string(tenths) : "") + "%";
}

std::uint64_t rest_of(std::uint64_t whole, std::uint64_t used) {
  return whole - std::min(whole, used);
}

bool suits(const DeviceProfile& device, std::uint32_t number, const TenantProfile& tenant) {
  if ((device.type & tenant.types) == 0) return false;
  if (tenant.platform && *tenant.platform != device.platform) return false;
  return tenant.devices.empty() ||
         std::find(tenant.devices.begin(), tenant.devices.end(), number) != tenant.devices.end();
}

}  // namespace

std::string DeviceRefusal::why() const {
  if (reason == Reason::memory) return "memory: " + bytes_text(left) + " of " + bytes_text(of) + " left";
  return "guarantee: " + percent_text(left) + " of " + percent_text(of) + " left to promise";
}

/// The best device so far.
class DeviceChoice::Walk {
 public:
  Walk(const DeviceChoice& choice, TenantId id, const TenantProfile& profile)
      : choice_(choice), id_(id), profile_(profile) {}

  void look_at(Device device) {
    const DeviceState& state = choice_.devices_[device];
    if (!suits(state.profile, device, profile_)) return;
    if (const auto refusal = choice_.refusal(device, id_, profile_)) {
      answer_.refused.push_back(*refusal);
      return;
    }
    const AcceleratorQueue::Entry entry{choice_.weight(device, id_, profile_.attributes),
                                        state.profile.bandwidth, device};
    if (!best_ || entry < *best_) best_ = entry;
  }
  /// Whether a device with this weight for a tenant of weight 1, or with less, can still be the best. See
  /// choose().
  bool may_improve(std::uint64_t queue_weight) const {
    if (!best_ || profile_.attributes.service == ServiceClass::batch) return true;
    const WideWeight speed = choice_.most_speed_;
    const WideWeight guarantee = FineShare::of_ppm(profile_.attributes.min.share().ppm).units;
    const WideWeight bound = speed * guarantee + profile_.attributes.weight * (queue_weight + speed);
    return bound >= best_->weight;
  }
  Answer take() {
    if (best_) {
      // Worse devices that were looked at by the way.
      std::erase_if(answer_.refused, [this](const DeviceRefusal& refusal) {
        const Device device = refusal.device;
        return *best_ < AcceleratorQueue::Entry{choice_.weight(device, id_, profile_.attributes),
                                                choice_.devices_[device].profile.bandwidth, device};
      });
      answer_.device = best_->device;
      answer_.weight = best_->weight;
      answer_.expected = choice_.expected(best_->device, id_, profile_.attributes);
    }
    std::sort(answer_.refused.begin(), answer_.refused.end(),
              [](const DeviceRefusal& a, const DeviceRefusal& b) { return a.device < b.device; });
    return std::move(answer_);
  }

 private:
  const DeviceChoice& choice_;
  const TenantId id_;
  const TenantProfile& profile_;
  std::optional<AcceleratorQueue::Entry> best_{};
  Answer answer_{};
};

DeviceChoice::Device DeviceChoice::add(const DeviceProfile& profile) {
  const auto device = static_cast<Device>(devices_.size());
  devices_.push_back({profile});
  std::uint64_t& speed = devices_.back().profile.speed;
  speed = std::clamp<std::uint64_t>(speed, 1, DeviceProfile::kMostSpeed);
  most_speed_ = std::max(most_speed_, speed);
  line_up(device);
  return device;
}

void DeviceChoice::set_elsewhere(Device device, std::uint64_t bytes) {
  devices_[device].load.elsewhere = bytes;
}

void DeviceChoice::set_promised_elsewhere(Device device, Share share) {
  devices_[device].promised_elsewhere = share;
}

void DeviceChoice::place(Device device, TenantId id, const TenantProfile& profile) {
  require_valid_weight(id, profile.attributes.weight);
  DeviceState& state = devices_[device];
  const auto [at, is_new] = state.claims.try_emplace(id);
  Claim& claim = at->second;
  if (is_new) {
    places_[id].push_back(device);
  } else {
    discount(state.load, claim);
  }
  claim.attributes = profile.attributes;
  claim.expected_memory = profile.memory;
  ++claim.sessions;
  if (is_new) classify(state.load, claim, profile.use);
  count(state.load, claim);
  line_up(device);
}

void DeviceChoice::leave(Device device, TenantId id) {
  DeviceState& state = devices_[device];
  const auto found = state.claims.find(id);
  if (found == state.claims.end()) return;
  discount(state.load, found->second);
  if (--found->second.sessions > 0) {
    count(state.load, found->second);
  } else {
    state.claims.erase(found);
    std::erase(places_[id], device);
    if (places_[id].empty()) places_.erase(id);
  }
  line_up(device);
}

void DeviceChoice::set_profile(TenantId id, const TenantProfile& profile) {
  require_valid_weight(id, profile.attributes.weight);
  for (const Device device : devices_of(id)) {
    DeviceState& state = devices_[device];
    Claim& claim = state.claims.at(id);
    discount(state.load, claim);
    claim.attributes = profile.attributes;
    claim.expected_memory = profile.memory;
    classify(state.load, claim, profile.use);
    count(state.load, claim);
    line_up(device);
  }
}

void DeviceChoice::measured(Device device, TenantId id, const TenantUse& use) {
  DeviceState& state = devices_[device];
  const auto found = state.claims.find(id);
  if (found == state.claims.end()) return;
  Claim& claim = found->second;
  discount(state.load, claim);
  claim.held_memory = use.memory;
  claim.used_ppm = std::min(use.time.ppm, Share::kWholePpm);
  classify(state.load, claim, use.time);
  count(state.load, claim);
  line_up(device);
}

/// Finds out whether the tenant is content, beside others, with this use; none: nobody knows.
void DeviceChoice::classify(const DeviceLoad& others, Claim& claim, const std::optional<Share>& use) {
  claim.content_ppm.reset();
  if (!use) return;
  const Share ceiling = claim.attributes.max;
  TenantAttributes unbounded = claim.attributes;
  unbounded.max = kWholeDevice;
  const FineShare entitled = expected_share(others, unbounded).entitled;
  if (FineShare::of_ppm(use->ppm).units * kContentOf < entitled.units * kContentParts) {
    claim.content_ppm = use->ppm;
  } else if (FineShare::of_ppm(ceiling.ppm) <= entitled) {
    claim.content_ppm = ceiling.ppm;  // which stops it
  }
}

std::span<const DeviceChoice::Device> DeviceChoice::devices_of(TenantId id) const {
  const auto found = places_.find(id);
  if (found == places_.end()) return {};
  return found->second;
}

/// For a normal or latency tenant of weight w >= 1 with guarantee g a device is worth at most speed * (g + w
/// * (q + 1)), where q is the share of a tenant of weight 1 without promises: w / (W + w) <= w / (W + 1), and
/// q is rounded down by less than 1. That leaves devices out where the tenant is already: its own claim there
/// would count as another's, so they are looked at first.
DeviceChoice::Answer DeviceChoice::choose(TenantId id, const TenantProfile& profile) const {
  Walk walk(*this, id, profile);
  const std::span<const Device> own = devices_of(id);
  for (const Device device : own) walk.look_at(device);
  for (const AcceleratorQueue::Entry& entry : queue_.order()) {
    if (!walk.may_improve(entry.weight)) break;
    if (std::find(own.begin(), own.end(), entry.device) == own.end()) walk.look_at(entry.device);
  }
  return walk.take();
}

ExpectedShare DeviceChoice::expected(Device device, TenantId id, const TenantAttributes& attributes) const {
  return expected_share(without(device, id), attributes);
}

std::uint64_t DeviceChoice::weight(Device device, TenantId id, const TenantAttributes& attributes) const {
  const Claim* const own = find(device, id);
  const std::uint64_t sessions = own == nullptr ? 1 : own->sessions + std::uint64_t{1};
  return devices_[device].profile.speed * expected(device, id, attributes).share.units / sessions;
}

std::optional<DeviceRefusal> DeviceChoice::refusal(Device device, TenantId id,
                                                   const TenantProfile& profile) const {
  const DeviceProfile& hardware = devices_[device].profile;
  const DeviceLoad others = without(device, id);
  const Claim* const own = find(device, id);
  const std::uint64_t bytes = std::max(profile.memory, own == nullptr ? 0 : own->held_memory);
  const std::uint64_t free = rest_of(rest_of(hardware.memory, others.elsewhere), others.memory);
  if (hardware.memory > 0 && bytes > free) {
    return DeviceRefusal{device, DeviceRefusal::Reason::memory, bytes, free, hardware.memory};
  }
  const std::uint64_t guarantee = profile.attributes.min.share().ppm;
  const std::uint64_t unpromised = rest_of(
      hardware.promise_limit.ppm,
      devices_[device].promised_elsewhere.ppm + others.promised_ppm +
          batch_floor_ppm(others.batch_weight > 0 || profile.attributes.service == ServiceClass::batch));
  if (guarantee > unpromised) {
    return DeviceRefusal{device, DeviceRefusal::Reason::guarantee, guarantee, unpromised,
                         hardware.promise_limit.ppm};
  }
  return std::nullopt;
}

void DeviceChoice::count(DeviceLoad& load, const Claim& claim) {
  const std::uint64_t guarantee = claim.attributes.min.share().ppm;
  load.memory += std::max(claim.expected_memory, claim.held_memory);
  ++load.tenants;
  load.sessions += claim.sessions;
  load.used_ppm += claim.used_ppm;
  load.promised_ppm += guarantee;
  if (claim.attributes.service == ServiceClass::batch) {
    load.batch_weight += claim.attributes.weight;
    load.kept_ppm += guarantee;
    return;
  }
  load.weight += claim.attributes.weight;
  load.kept_ppm += claim.content_ppm.value_or(guarantee);
  if (!claim.content_ppm) load.hungry_weight += claim.attributes.weight;
}

void DeviceChoice::discount(DeviceLoad& load, const Claim& claim) {
  DeviceLoad part;
  count(part, claim);
  load.memory -= part.memory;
  load.tenants -= part.tenants;
  load.sessions -= part.sessions;
  load.used_ppm -= part.used_ppm;
  load.promised_ppm -= part.promised_ppm;
  load.batch_weight -= part.batch_weight;
  load.kept_ppm -= part.kept_ppm;
  load.weight -= part.weight;
  load.hungry_weight -= part.hungry_weight;
}

const DeviceChoice::Claim* DeviceChoice::find(Device device, TenantId id) const {
  const auto& claims = devices_[device].claims;
  const auto found = claims.find(id);
  return found == claims.end() ? nullptr : &found->second;
}

DeviceLoad DeviceChoice::without(Device device, TenantId id) const {
  DeviceLoad load = devices_[device].load;
  if (const Claim* const own = find(device, id)) discount(load, *own);
  return load;
}

void DeviceChoice::line_up(Device device) {
  const DeviceState& state = devices_[device];
  queue_.set({state.profile.speed * expected_share(state.load, TenantAttributes{}).share.units,
              state.profile.bandwidth, device});
}

}  // namespace fairgv::sched
