// The table's ears for workers: their messages, questions and ends.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "runtime/daemon/session_table.hpp"
#include "runtime/daemon/worker/hang_up.hpp"

namespace fairgv::daemon {
namespace {

using WorkerClock = std::chrono::steady_clock;

/// How often to look whether earlier workers of a session that ends are gone.
constexpr std::chrono::milliseconds kLookAgain{5};

/// Packets about memory that a worker may have sent before it came to rest: more than its socket holds.
constexpr int kMostAtRest = 4'096;

/// The worker's next packet, or nothing. The socket of one that has hung up is watched no longer.
std::optional<std::string> next_packet(const Socket& socket, EventLoop::Watch& watch) {
  auto packet = socket.receive_text();
  if (packet && packet->kind == Packet::Kind::message) return std::move(packet->text);
  if (!packet || packet->kind == Packet::Kind::closed) watch.reset();
  return std::nullopt;
}

}  // namespace

void SessionTable::on_worker_message(SessionId id) {
  if (Session* const session = sessions_.find(id)) hear_worker(*session);
}

/// False when the worker has nothing more to say now.
bool SessionTable::hear_worker(Session& session) {
  const auto text = next_packet(session.channel, session.channel_watch);
  if (text) on_worker_text(session, *text);
  return text.has_value();
}

void SessionTable::on_worker_text(Session& session, const std::string& text) {
  const auto message = session::parse_worker_message(text);
  if (!message) return end(session, message.error().message, Fault::violation);
  const auto* const ready = std::get_if<session::WorkerReady>(&message.value());
  const auto* const failed = std::get_if<session::WorkerFailed>(&message.value());
  const auto* const command = std::get_if<session::LongCommand>(&message.value());
  const auto* const journal = std::get_if<session::JournalShown>(&message.value());
  const auto* const says_failed = std::get_if<session::DeviceFailed>(&message.value());
  const bool of_move = std::holds_alternative<session::CopiedAhead>(message.value()) ||
                       std::holds_alternative<session::ImageWritten>(message.value()) ||
                       std::holds_alternative<session::CannotMove>(message.value());
  const bool starting = session.stage == Session::Stage::starting;
  if (starting && ready != nullptr) {
    on_ready(session, *ready);
  } else if (failed != nullptr) {
    end(session, failed->reason, starting ? std::nullopt : std::optional(Fault::violation));
  } else if (session.stage == Session::Stage::running && command != nullptr) {
    on_long_command(session, *command);
  } else if (session.stage == Session::Stage::running && journal != nullptr) {
    if (auto taken = journals_.take(session, *journal); !taken)
      end(session, taken.error().message, Fault::violation);
  } else if (session.stage == Session::Stage::running && says_failed != nullptr) {
    if (auto heard = failures_.hear(session, *says_failed); !heard)
      end(session, heard.error().message, Fault::violation);
  } else if (!of_move || !moves_.hear(session, message.value())) {
    end(session, "its worker spoke out of turn", Fault::violation);
  }
}

/// Handles one packet at a time, so that a worker that floods the daemon keeps nobody waiting. A worker that
/// does not read its answers gets an error once its socket is full.
void SessionTable::on_ledger_message(SessionId id) {
  if (Session* const session = sessions_.find(id)) answer_ledger(*session);
}

/// False when the worker asks for nothing more now, or for what ends its session.
bool SessionTable::answer_ledger(Session& session) {
  const auto text = next_packet(session.ledger, session.ledger_watch);
  if (!text || session.stage == Session::Stage::ending) return false;
  if (session.stage != Session::Stage::running || moves_.rests(session)) {
    end(session, "its worker spoke out of turn", Fault::violation);
    return false;
  }
  const auto answer = needs_.tenancies.memory().take(
      session.id, needs_.devices.in_books(session.moved.homes_in(session.devices)), *text);
  needs_.tenancies.account_memory(session.tenant_name);
  if (!answer) {
    end(session, answer.error().message, Fault::violation);
  } else if (answer.value() && !session.ledger.send(*answer.value())) {
    end_unheard(session, session.ledger);
  }
  return session.stage == Session::Stage::running;
}

/// Of a worker that has come to rest: it asks no more. False: its session ends.
bool SessionTable::answer_all_of_ledger(Session& session) {
  for (int left = kMostAtRest; left > 0 && answer_ledger(session); --left) {
  }
  return session.stage == Session::Stage::running;
}

/// A packet cannot be sent to the session's worker by this socket. A worker that has ended may have been
/// killed by anybody, and on_worker_end() says how; one that lives on without its socket is ended so, too.
void SessionTable::end_unheard(Session& session, const Socket& worker) {
  if (!has_hung_up(worker)) return end(session, "its worker does not listen", Fault::violation);
  // A direct program closes its sockets when it becomes another program, and then its end follows as ever.
  if (!session.worker.is_program()) session.worker.kill();
}

void SessionTable::on_ready(Session& session, const session::WorkerReady& ready) {
  starter_.tell_unusable_drivers(ready);
  auto view = needs_.devices.see(session.account, ready.devices, sessions_);
  if (!view) return end(session, view.error().message);
  session.devices = std::move(view).value();
  auto done = needs_.devices.placements().place(session, ready.nameable);
  if (done) done = admit(session);
  if (!done) return end(session, done.error().message);
  if (session.passed_over.empty()) return;
  needs_.log.info(session.account, "session {} of tenant {}: device {} chosen, not {}", session.id.value,
                  session.tenant_name, fmt::join(session.devices.shown(), ","),
                  fmt::join(session.passed_over, ", not "));
}

void SessionTable::on_long_command(Session& session, const session::LongCommand& command) {
  const auto first = session.long_commands.take(command, session.devices);
  if (!first) return end(session, first.error().message, Fault::violation);
  if (!first.value()) return;
  needs_.log.info(session.account,
                  "session {} of tenant {}: kernel {} held device {} for {:.1f} ms and cannot be sliced: {}",
                  session.id.value, session.tenant_name, command.name, session.devices.host(command.device),
                  static_cast<double>(command.longest_ns) / 1e6, command.reason);
}

void SessionTable::on_worker_end(SessionId id) {
  Session* const session = sessions_.find(id);
  if (session == nullptr) return;
  // The reason for the worker's end may still lie in its channel.
  while (session->stage != Session::Stage::ending && hear_worker(*session)) {
  }
  if (session->messages) session->messages->finish();
  const std::string how = session->worker.ending();
  if (session->worker.is_program()) end(*session, "its program ended");
  if (session->stage == Session::Stage::running) failures_.note_crash(*session);
  if (session->stage != Session::Stage::ending)
    end(*session, "its worker " + how + " (see the daemon's log)", Fault::crash);
  session->worker_watch.reset();
  clear_up(*session);
}

/// Its worker has ended. What an earlier worker has left may use the device, too.
void SessionTable::clear_up(Session& session) {
  if (!moves_.has_others(session)) return departures_.go_on(sessions_, session);
  session.clear_at = WorkerClock::now() + kLookAgain;
}

}  // namespace fairgv::daemon
