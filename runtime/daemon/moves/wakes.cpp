#include "runtime/daemon/moves/wakes.hpp"

#include <algorithm>
#include <utility>

#include "runtime/daemon/sessions/worker_page.hpp"

namespace fairgv::daemon {
std::optional<Wakes::Time> Wakes::deadline() const {
  const auto& all = needs_.sessions.all();
  const bool any =
      std::any_of(all.begin(), all.end(), [](const auto& entry) { return wakes(*entry.second); });
  return any ? std::optional(next_look_) : std::nullopt;
}

void Wakes::expire(Time now) {
  if (now < next_look_) return;
  std::erase_if(sleepers_, [this](const auto& entry) {
    const Session* const session = needs_.sessions.find(entry.first);
    return session == nullptr || !wakes(*session);
  });
  for (const auto& [id, session] : needs_.sessions.all()) {
    if (!wakes(*session)) continue;
    next_look_ = now + kLook;
    look_at(*session, now);
  }
}

void Wakes::look_at(Session& session, Time now) {
  Sleeper& sleeper = sleepers_[session.id];
  if (sleeper.not_before && now < *sleeper.not_before) return;
  if (!needs_.moves.may_ask(session) || !needs_its_device(session)) return;
  if (!has_room(session)) {
    if (!std::exchange(sleeper.short_of_memory, true)) {
      needs_.log.info(session.account,
                      "session {} of tenant {} needs its device, and its memory is taken: it stays parked "
                      "until there is room",
                      session.id.value, session.tenant_name);
    }
    return;
  }
  const auto begun = needs_.moves.unpark(session, [this](const MoveOutcome& outcome) {
    if (outcome.failure) put_off(outcome.session, std::chrono::steady_clock::now());
  });
  if (!begun) put_off(session.id, now);
}

bool Wakes::has_room(const Session& session) const {
  return needs_.tenancies.memory().has_room(
      session.id, needs_.devices.in_books(session.moved.homes_in(session.devices)), session.parked->holdings);
}

/// The log has the reason.
void Wakes::put_off(SessionId id, Time now) {
  const auto found = sleepers_.find(id);
  if (found == sleepers_.end()) return;
  Sleeper& sleeper = found->second;
  sleeper.not_before = now + sleeper.wait;
  sleeper.wait = std::min(2 * sleeper.wait, kLastRetry);
}

}  // namespace fairgv::daemon
