// How sessions are parked, and go on.
#include <fmt/core.h>

#include <chrono>
#include <string>
#include <utility>

#include "runtime/daemon/moves/moves.hpp"
#include "runtime/daemon/moves/session_words.hpp"
#include "runtime/daemon/moves/worker_exchange.hpp"
#include "runtime/daemon/sessions/processes.hpp"
#include "runtime/ring/doorbell.hpp"

namespace fairgv::daemon {

Result<void> Moves::park(Session& session, const Parking& how, Done done) {
  FAIRGV_CHECK(may_begin(session));
  if (session.parked) return Error{name_of_session(session) + " is parked already"};
  const auto patience = needs_.config.session.move_patience;
  Move& move =
      add(session,
          {.steps = MoveSteps({patience, patience, patience, patience}, std::chrono::steady_clock::now()),
           .worker = {},
           .done = std::move(done),
           .outcome = {.session = session.id, .from = homes_of(session)},
           .parks = how});
  auto ordered = order_image(session, move);
  if (ordered) return {};
  move.done = [](const MoveOutcome&) {};
  fail(session, ordered.error().message);
  return ordered;
}

Result<void> Moves::unpark(Session& session, Done done) {
  FAIRGV_CHECK(may_begin(session));
  if (!session.parked) return Error{name_of_session(session) + " is not parked"};
  for (const std::uint32_t device : homes_of(session)) {
    if (!needs_.devices.table().is_drained(device)) continue;
    return Error{
        fmt::format("{0} stays parked: device {1}, where it lies, {2}: 'fairgv undrain {1}' ends that",
                    name_of_session(session), device, needs_.devices.table().why_empty(device))};
  }
  return begin_with_worker(session, session.moved, std::move(done));
}

/// The image goes where the user wants it, or where there is room for it. Meanwhile the worker rests.
void Moves::store_image(Session& session, Move& move) {
  const auto stays = move.parks->to_file ? Result<void>(Error{}) : images_.may_stay(move.image.get());
  if (stays) return keep_image(session, move);
  const bool was_wanted = std::exchange(move.parks->to_file, true);
  const std::string reason = was_wanted ? "" : stays.error().message + "; ";
  const auto begun = images_.store(
      move.image.get(), move.image_bytes, [this, id = session.id, reason](Result<UniqueFd> file) {
        on_stored(id, file ? std::move(file) : Result<UniqueFd>(Error{reason + file.error().message}));
      });
  if (!begun) return fail(session, reason + begun.error().message);
  const auto patience = needs_.config.session.move_patience;
  move.wait = Wait{std::chrono::steady_clock::now() + patience, "its image was not written to a file",
                   [this, work = begun.value()] { images_.forget(work); }};
}

void Moves::on_stored(SessionId id, Result<UniqueFd> file) {
  Session& session = *needs_.sessions.find(id);
  Move& move = under_way_.at(id);
  move.wait.reset();
  if (!file) return fail(session, file.error().message);
  move.image = std::move(file).value();
  keep_image(session, move);
}

std::string Moves::too_late(const Move& move) const {
  if (!move.wait) return move.steps.too_late();
  return fmt::format("{} within {:g} s (move_patience_s)", move.wait->what,
                     std::chrono::duration<double>(needs_.config.session.move_patience).count());
}

/// The worker that has served the session goes, and its image is kept.
void Moves::keep_image(Session& session, Move& under_way) {
  Move move = std::move(under_way);
  under_way_.erase(session.id);
  WorkerStarter::Successor old = exchange_worker(session, {});
  session.processor_clock.reset();
  MemoryBook::Move held = needs_.tenancies.memory().release(session.id);
  session.parked =
      ParkedSession{std::move(move.image), move.image_bytes, std::move(held.holdings), *move.parks};
  move.outcome.bytes = move.image_bytes;
  session.moving = false;
  // A bell may still say that a thread sleeps that has left: those who do sleep look, and say so again.
  ring::ring_always(session.header.header().completion_bell);
  ring::ring_always(session.header.header().reply_bell);
  needs_.dispatch.move_session(dispatched_session(session, needs_.tenancies.registry()));
  retire(session, std::move(old), std::move(held.left));
  (void)hooks_.change_worker(session);
  move.outcome.held = move.steps.held(std::chrono::steady_clock::now());
  needs_.log.info(session.account, "session {} of tenant {} is parked: image of {} bytes", session.id.value,
                  session.tenant_name, move.outcome.bytes);
  move.done(move.outcome);
}

}  // namespace fairgv::daemon
