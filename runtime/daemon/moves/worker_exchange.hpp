// A session's worker, exchanged for another or for none.
#pragma once

#include <utility>

#include "runtime/daemon/sessions/processor_watch.hpp"
#include "runtime/daemon/sessions/session.hpp"
#include "runtime/daemon/sessions/worker_starter.hpp"

namespace fairgv::daemon {

/// Puts another worker into the session's own, which is returned. Nobody hears either of them any more.
inline WorkerStarter::Successor exchange_worker(Session& session, WorkerStarter::Successor next) {
  session.ran_before = ProcessorWatch::look(session).value_or(session.ran_before);
  session.channel_watch.reset();
  session.ledger_watch.reset();
  session.worker_watch.reset();
  std::swap(session.channel, next.channel);
  std::swap(session.ledger, next.ledger);
  std::swap(session.messages, next.messages);
  std::swap(session.worker, next.process);
  return next;
}

}  // namespace fairgv::daemon
