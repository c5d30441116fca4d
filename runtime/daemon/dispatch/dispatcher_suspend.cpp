// Sessions that an administrator, or their own user, has paused: they get no turn until they may go on.
//
// Their queued commands stay where they are, in their workers. To the policy a tenant whose sessions are all
// suspended is one that sleeps, so that it gains nothing by it.
#include <algorithm>
#include <utility>

#include "runtime/daemon/dispatch/dispatcher.hpp"

namespace fairgv::daemon {

void Dispatcher::set_suspended(PlaceId id, bool suspended, Time now) {
  Session* const session = find(id);
  if (session == nullptr || session->suspended == suspended) return;
  if (suspended) return suspend(id, *session, now);
  session->suspended = false;
  count_user(*session, session->used_ns != 0 || (turn_ && turn_->place == id));
  if (turn_) tell_company(sessions_.at(turn_->place));
  // One that still has its turn has been asked for it, and lines up again when it has given it back.
  look(id, now);
  // Its wait from before the pause counts, and the pause does not.
  const Duration waited = std::exchange(session->waited, {});
  if (session->waiting) session->waiting_since -= waited;
}

void Dispatcher::suspend(PlaceId id, Session& session, Time now) {
  charge_holder(now);
  session.suspended = true;
  if (turn_ && turn_->place == id) {
    // expire() takes it back, or asks for it, and again while it does not come.
    turn_->ends = std::min(turn_->ends.value_or(now), now);
    deadline_ = now;
  } else if (session.waiting) {
    session.waited = now - session.waiting_since;
    stop_waiting(id, session, now);
    block_if_idle(session.tenant, now);
  }
  count_user(session, false);
  if (turn_) tell_company(sessions_.at(turn_->place));
  const auto& members = tenants_.at(session.tenant).sessions;
  const bool none_left = std::all_of(members.begin(), members.end(),
                                     [this](PlaceId member) { return sessions_.at(member).suspended; });
  if (kept_for_ == session.tenant && none_left) deadline_ = now;
}

}  // namespace fairgv::daemon
