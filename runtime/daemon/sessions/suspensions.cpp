#include "runtime/daemon/sessions/suspensions.hpp"

namespace fairgv::daemon {

bool is_suspended(const Session& session, const TenantRegistry& tenants) {
  return session.paused || session.held_back_until || tenants.find(session.tenant)->paused;
}

void Suspensions::set_pause(Session& session, const std::optional<control::Pause>& pause) {
  session.paused = pause;
  tell(session);
}

void Suspensions::tell(const Sessions& sessions, TenantId tenant) {
  for (const auto& [id, session] : sessions.all()) {
    if (session->tenant == tenant) tell(*session);
  }
}

/// The dispatchers do not know a session that is starting: they hear of its pause when it is admitted.
void Suspensions::tell(const Session& session) {
  dispatch_.set_suspended(session.id, is_suspended(session, tenants_),
                          tenants_.find(session.tenant)->attributes);
}

void Suspensions::hold_back(Session& session, Time now) {
  const Tenant& tenant = *tenants_.find(session.tenant);
  const Time until = tenant.probation.may_run_from(now);
  if (until <= now) return;
  session.held_back_until = until;
  log_.info(session.account, "session {} of tenant {} may run in {:.1f} s: {} sessions before it were killed",
            session.id.value, tenant.name, std::chrono::duration<double>(until - now).count(),
            tenant.probation.strikes(now));
}

void Suspensions::expire(const Sessions& sessions, Time now) {
  for (const auto& [id, session] : sessions.all()) {
    if (!session->held_back_until || now < *session->held_back_until) continue;
    session->held_back_until.reset();
    tell(*session);
  }
}

}  // namespace fairgv::daemon
