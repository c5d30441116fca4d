// The part of SessionTable about sessions that somebody has ended, paused or resumed by hand.
#include "runtime/daemon/session_table.hpp"

namespace fairgv::daemon {

const Session* SessionTable::find(SessionId id) const {
  const auto found = sessions_.find(id);
  const bool there = found != sessions_.end() && found->second->stage != Session::Stage::ending;
  return there ? found->second.get() : nullptr;
}

void SessionTable::end(SessionId id, const std::string& reason) {
  note_kill(*sessions_.at(id), reason);
  end(*sessions_.at(id), reason);
}

void SessionTable::set_pause(SessionId id, const std::optional<control::Pause>& pause) {
  Session& session = *sessions_.at(id);
  session.paused = pause;
  tell_pause(session);
}

void SessionTable::tell_pauses(TenantId tenant) {
  for (const auto& [id, session] : sessions_) {
    if (session->tenant == tenant) tell_pause(*session);
  }
}

/// The dispatchers do not know a session that is starting: they hear of its pause when it is admitted.
void SessionTable::tell_pause(const Session& session) {
  host_.dispatch.set_suspended(session.id, is_suspended(session), host_.tenants.find(session.tenant)->weight);
}

bool SessionTable::is_suspended(const Session& session) const {
  return session.paused || session.held_back_until || host_.tenants.find(session.tenant)->paused;
}

void SessionTable::hold_back(Session& session, Time now) {
  const Tenant& tenant = *host_.tenants.find(session.tenant);
  const Time until = tenant.probation.may_run_from(now);
  if (until <= now) return;
  session.held_back_until = until;
  host_.log.info(session.account,
                 "session {} of tenant {} may run in {:.1f} s: {} sessions before it were killed",
                 session.id.value, tenant.name, std::chrono::duration<double>(until - now).count(),
                 tenant.probation.strikes(now));
}

void SessionTable::let_go_on(Time now) {
  for (auto& [id, session] : sessions_) {
    if (!session->held_back_until || now < *session->held_back_until) continue;
    session->held_back_until.reset();
    tell_pause(*session);
  }
}

}  // namespace fairgv::daemon
