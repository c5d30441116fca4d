// The processes of a session, as its dispatcher uses them: their time, and stopping the worker; and the
// session as the dispatchers get it. The session outlives both.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "runtime/daemon/dispatch/device_dispatchers.hpp"
#include "runtime/daemon/sessions/session.hpp"
#include "runtime/daemon/sessions/suspensions.hpp"
#include "runtime/daemon/turns/place.hpp"
#include "runtime/daemon/worker/processor_clock.hpp"

namespace fairgv::daemon {

/// Processor time of the session's program; empty if this process cannot see it.
inline ProcessorTimer timer_of_program(const Session& session) {
  if (session.peer.pid <= 0) return {};  // in a process namespace that this one does not see
  return [program = session.peer.pid] { return processor_time(program); };
}

/// The time is that of both: a program that crowds out its own device is not excused by that.
inline WorkerHandle handle_of_worker(const Session& session) {
  // A direct program's host code is its own: its processor time says nothing of the device, and stopping it
  // would stop more than the device's work.
  if (session.worker.is_program()) return {.is_program = true};
  if (session.parked) return {};
  const auto ran = [worker = session.worker.pid(),
                    program = timer_of_program(session)]() -> std::optional<sched::Duration> {
    const auto of_worker = processor_time(worker);
    if (!of_worker || !program) return of_worker;
    return *of_worker + program().value_or(sched::Duration(0));
  };
  return {ran, [worker = session.worker.pidfd()](bool stop) { return WorkerProcess::stop(worker, stop); }};
}

/// The part of the session that the dispatchers need while it runs. Its tenant must be known.
inline DispatchedSession dispatched_session(Session& session, const TenantRegistry& tenants) {
  DeviceView homes = session.moved.places_in(session.devices);
  if (session.parked) homes.hide(~std::uint64_t{0});
  return {.id = session.id,
          .tenant = session.tenant,
          .attributes = tenants.find(session.tenant)->attributes,
          .turns = &session.turns.page(),
          .promises = session.turns.promises(),
          .header = &session.header.header(),
          .knock_fd = session.knock.get(),
          .devices = session.moved.visited_in(session.devices),
          .homes = std::move(homes),
          .worker = handle_of_worker(session),
          .suspended = is_suspended(session, tenants),
          .program = timer_of_program(session),
          .residencies = session.turns.residencies()};
}

}  // namespace fairgv::daemon
