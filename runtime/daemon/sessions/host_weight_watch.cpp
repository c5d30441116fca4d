#include "runtime/daemon/sessions/host_weight_watch.hpp"

#include <algorithm>

#include "runtime/daemon/worker/host_weight.hpp"

namespace fairgv::daemon {

void HostWeightWatch::begin(const Sessions& sessions, Session& session) {
  if (dispatch_.looks().go_by_host_weights()) look(sessions, session);
}

std::optional<HostWeightWatch::Time> HostWeightWatch::deadline(const Sessions& sessions) const {
  const bool looks = sessions.any_in(Session::Stage::running) && dispatch_.looks().go_by_host_weights();
  return looks ? std::optional(next_) : std::nullopt;
}

void HostWeightWatch::expire(const Sessions& sessions, Time now) {
  if (now < next_ || sessions.empty() || !dispatch_.looks().go_by_host_weights()) return;
  next_ = now + kLook;
  auto next = sessions.all().upper_bound(last_);
  for (std::size_t looks = std::min(kMostLooks, sessions.size()); looks > 0; --looks, ++next) {
    if (next == sessions.all().end()) next = sessions.all().begin();
    last_ = next->first;
    if (next->second->stage == Session::Stage::running) look(sessions, *next->second);
  }
}

void HostWeightWatch::look(const Sessions& sessions, Session& session) {
  if (session.peer.pid <= 0) return;  // in a process namespace that this one does not see
  session.host_weight = host_weight(session.peer.pid);
  std::uint32_t greatest = session.host_weight;
  for (const auto& [id, other] : sessions.all()) {
    if (other->tenant == session.tenant && other->stage == Session::Stage::running) {
      greatest = std::max(greatest, other->host_weight);
    }
  }
  if (const Tenant* const changed = tenancies_.registry().set_host_weight(session.tenant, greatest)) {
    tenancies_.apply_attributes(*changed);
  }
}

}  // namespace fairgv::daemon
