#include "runtime/daemon/sessions/departures.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "runtime/base/json_fields.hpp"
#include "runtime/daemon/service/close_aside.hpp"
#include "runtime/daemon/sessions/processor_watch.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

/// The wait before the second look at what is left of a worker that has ended. Each wait is twice the one
/// before, up to so many times: processes take a moment to die, and only a broken driver keeps them.
constexpr std::chrono::milliseconds kClearAgain{5};
constexpr unsigned kMostDoublings = 8;

}  // namespace

void Departures::note_kill(Sessions& sessions, const Session& session, const std::string& reason) {
  sessions.note({.session = session.id,
                 .tenant = session.tenant_name,
                 .uid = session.peer.uid,
                 .pid = session.peer.pid,
                 .program = session.program,
                 .reason = printable(reason, kLongestKillReason),
                 .at = Clock::now()});
}

void Departures::begin(Sessions& sessions, Session& session, const std::string& reason,
                       std::optional<Fault> fault) const {
  if (session.stage == Session::Stage::ending) return;
  if (fault) {
    needs_.tenancies.registry().count_fault(session.tenant, *fault);
    note_kill(sessions, session, reason);
  }
  if (session.stage == Session::Stage::running) judge(session, fault);
  needs_.log.info(session.account, "session {} of tenant {} ends: {}", session.id.value, session.tenant_name,
                  reason);
  if (session.stage == Session::Stage::starting) {
    // The client may be gone already.
    (void)session.client.send(to_text(session::Refused{reason}));
  }
  session.stage = Session::Stage::ending;
  needs_.tenancies.registry().retire(session.tenant);
  session.header.close();
  session.client_watch.reset();
  session.client.close();
  if (session.parked) session.clear_at = Clock::now();
  if (!session.worker.is_program()) return session.worker.kill();
  // A direct program lives on, without a device, when its session ends: it may have become another program
  // (exec), or the daemon stops. It is killed for what it did to others, and then its end is waited for.
  if (fault) return session.worker.kill();
  session.clear_at = Clock::now();
}

/// Counts the session's end towards its tenant's conduct, if the session was killed for harm to other
/// tenants.
void Departures::judge(const Session& session, std::optional<Fault> fault) const {
  if (fault == Fault::watchdog || fault == Fault::violation) {
    needs_.tenancies.registry().note_kill(session.tenant, Clock::now());
  } else if (!fault && needs_.dispatch.looks().session(session.id).has_used_a_device) {
    needs_.tenancies.registry().note_good_conduct(session.tenant);
  }
}

void Departures::go_on(Sessions& sessions, Session& session) {
  (void)ProcessorWatch::look(session);
  if (session.worker.clear()) return remove(sessions, session);
  const unsigned doublings = std::min(session.clear_looks++, kMostDoublings);
  session.clear_at = Clock::now() + kClearAgain * (1U << doublings);
  if (session.clear_looks == kMostDoublings) {
    spdlog::warn("session {} of tenant {}: processes that its worker has started do not end",
                 session.id.value, session.tenant_name);
  }
}

void Departures::remove(Sessions& sessions, Session& session) {
  before_removal_(session);
  needs_.dispatch.remove_session(session.id, session.ran);
  needs_.tenancies.memory().end(session.id);
  needs_.tenancies.account_memory(session.tenant_name);
  needs_.placements.leave(session);
  const TenantId tenant = session.tenant;
  UniqueFd segment = std::move(session.segment_fd);  // often the last reference to it
  sessions.remove(session.id);
  close_aside(std::move(segment));
  needs_.markets.settle(tenant, sessions.devices_seen_by(tenant));
  needs_.tenancies.leave(tenant);
}

}  // namespace fairgv::daemon
