#include "runtime/daemon/moves/reliefs.hpp"

#include <algorithm>

#include "runtime/daemon/moves/session_words.hpp"

namespace fairgv::daemon {

std::optional<Reliefs::Time> Reliefs::deadline() const {
  // Markets wake the server when they look; a warning that lasts is looked at from then on.
  return overloads_.empty() ? std::nullopt : std::optional(next_look_);
}

void Reliefs::expire(Time now) {
  if (now < next_look_) return;
  next_look_ = now + kLook;
  take_outcome(now);
  std::erase_if(refused_, [&](const auto& each) {
    return now >= each.second || needs_.sessions.find(each.first) == nullptr;
  });
  const std::vector<std::uint32_t> overloaded = needs_.overloaded();
  std::erase_if(overloads_, [&](const auto& each) {
    return std::find(overloaded.begin(), overloaded.end(), each.first) == overloaded.end();
  });
  for (const std::uint32_t device : overloaded) {
    const auto to = needs_.config.devices.of(device).oversell_move_to;
    if (!to) {
      overloads_.erase(device);
      continue;
    }
    const auto found = overloads_.find(device);
    if (found == overloads_.end()) {
      overloads_.emplace(device, Overload{now, used_by_all(device)});
    } else if (now >= found->second.since + kLasting && now >= rests_until_ && !moves_) {
      relieve(device, *to, found->second, now);
    }
  }
}

std::uint64_t Reliefs::used_of(SessionId id, std::uint32_t device) const {
  const DeviceTable& table = needs_.devices.table();
  const std::vector<std::uint64_t> used = needs_.used_ns(id);
  std::uint64_t sum = 0;
  for (std::uint32_t host = 0; host < table.size() && host < used.size(); ++host) {
    if (table.hardware[host] == device) sum += used[host];
  }
  return sum;
}

std::map<SessionId, std::uint64_t> Reliefs::used_by_all(std::uint32_t device) const {
  std::map<SessionId, std::uint64_t> used;
  for (const auto& [id, session] : needs_.sessions.all()) used.emplace(id, used_of(id, device));
  return used;
}

/// Nothing: the session stays where it is.
std::optional<DeviceMap::Pairs> Reliefs::placed_of(const Session& session, std::uint32_t device,
                                                   std::uint32_t to) const {
  const bool is_served =
      session.stage == Session::Stage::running && !session.parked && needs_.moves.may_ask(session);
  const Tenant* const tenant = needs_.tenancies.registry().find(session.tenant);
  const auto target = session.devices.worker(to);
  if (!is_served || tenant == nullptr || !target || !session.moved.moved().empty()) return std::nullopt;
  const DeviceTable& table = needs_.devices.table();
  if (table.is_drained(to) || table.hardware[to] == device) return std::nullopt;
  if (!needs_.config.tenants.devices_of(tenant->name, tenant->class_name).may_be(to)) return std::nullopt;
  DeviceMap::Pairs placed;
  for (std::uint32_t each = 0; each < session.devices.size(); ++each) {
    if (!session.devices.hides(each) && table.hardware[session.devices.host(each)] == device)
      placed.emplace_back(each, *target);
  }
  if (placed.empty()) return std::nullopt;
  return placed;
}

/// The lightest first.
std::vector<Reliefs::Candidate> Reliefs::candidates(std::uint32_t device, std::uint32_t to,
                                                    const Overload& overload) const {
  std::vector<Candidate> list;
  for (const auto& [id, before] : overload.used_then) {
    const Session* const session = needs_.sessions.find(id);
    if (session == nullptr || refused_.contains(id)) continue;
    const std::uint64_t now = used_of(id, device);
    auto placed = placed_of(*session, device, to);
    if (placed && now > before) list.push_back({now - before, id, std::move(*placed)});
  }
  std::sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.used, a.id) < std::pair(b.used, b.id);
  });
  return list;
}

void Reliefs::relieve(std::uint32_t device, std::uint32_t to, const Overload& overload, Time now) {
  for (const Candidate& each : candidates(device, to, overload)) {
    Session& session = *needs_.sessions.find(each.id);
    moves_ = true;
    const auto begun = needs_.moves.begin_on(session, session.moved.with(each.placed, session.devices),
                                             [this](const MoveOutcome& outcome) {
                                               done_ = outcome;
                                               moves_ = false;
                                             });
    if (begun) {
      needs_.log.info(
          session.account,
          "device {} is overloaded: {} of tenant {}, which uses it least, is to move to device {}", device,
          name_of_session(session), session.tenant_name, to);
      return;
    }
    moves_ = false;
    refused_[each.id] = now + kRefused;
    needs_.log.info(session.account, "device {} is overloaded: {}", device, begun.error().message);
  }
}

/// Looks how the latest move has ended. The log has the reason of a failure.
void Reliefs::take_outcome(Time now) {
  if (!done_) return;
  if (done_->failure) {
    refused_[done_->session] = now + kRefused;
  } else {
    rests_until_ = now + kRest;
  }
  done_.reset();
}

}  // namespace fairgv::daemon
