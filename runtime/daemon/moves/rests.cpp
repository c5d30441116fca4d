// Sessions that rest while somebody copies them, and sessions that are restored from such a copy.
#include <fcntl.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "runtime/base/files/sparse_copy.hpp"
#include "runtime/daemon/moves/moves.hpp"
#include "runtime/daemon/moves/session_words.hpp"
#include "runtime/session/move/orders.hpp"

namespace fairgv::daemon {
namespace {

/// Everything in this part of the session's memory becomes what is in the file, which begins with it.
Result<void> replace_contents(int segment, std::uint64_t offset, int contents, std::uint64_t bytes,
                              const std::atomic<bool>& stop) {
  if (::fallocate(segment, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(bytes)) != 0)
    return system_error("cannot clear its shared memory");
  const auto copied = copy_sparse({contents, 0}, {segment, offset}, bytes, stop);
  if (!copied) return Error{"cannot " + copied.error().message + " (its shared memory)"};
  return {};
}

}  // namespace

Result<void> Moves::rest(Session& session, Rested rested, Done done) {
  FAIRGV_CHECK(may_begin(session));
  if (session.parked)
    return Error{name_of_session(session) + " is parked: let it go on by 'fairgv resume' first"};
  const auto patience = needs_.config.session.move_patience;
  Move& move =
      add(session,
          {.steps = MoveSteps({patience, patience, patience, patience}, std::chrono::steady_clock::now()),
           .worker = {},
           .done = std::move(done),
           .outcome = {.session = session.id, .from = homes_of(session)},
           .rested = std::move(rested)});
  auto ordered = order_image(session, move);
  if (ordered) return {};
  move.done = [](const MoveOutcome&) {};
  fail(session, ordered.error().message);
  return ordered;
}

/// The session's image is complete, and nothing of it changes until it goes on.
void Moves::hand_out(Session& session, Move& move) {
  move.wait =
      Wait{std::chrono::steady_clock::now() + needs_.config.session.move_patience, "it was not copied", {}};
  const Rested rested = std::move(move.rested);
  move.rested = [](Session&, const UniqueFd&, std::uint64_t) {};
  move.outcome.bytes = move.image_bytes;
  rested(session, move.image, move.image_bytes);
}

Result<void> Moves::end_rest(Session& session) {
  const auto found = under_way_.find(session.id);
  if (found == under_way_.end() || !found->second.rested || !found->second.wait)
    return Error{name_of_session(session) + " does not rest any more: it was not copied in time"};
  Move move = std::move(found->second);
  under_way_.erase(found);
  session.moving = false;
  move.outcome.held = move.steps.held(std::chrono::steady_clock::now());
  move.outcome.to = move.outcome.from;
  const bool goes_on = static_cast<bool>(session.channel.send(to_text(session::GoOn{})));
  if (!goes_on) hooks_.unheard(session);
  move.done(move.outcome);
  return {};
}

Result<void> Moves::restore(Session& session, Restored from, Done done) {
  FAIRGV_CHECK(may_begin(session));
  for (const std::uint32_t device : homes_of(session)) {
    if (needs_.devices.table().is_drained(device))
      return Error{name_of_session(session) + " is not restored: device " + std::to_string(device) +
                   ", where it lies, is drained"};
  }
  FAIRGV_CHECK(begin_with_worker(session, session.moved, std::move(done)));
  under_way_.at(session.id).restored = std::move(from);
  return {};
}

/// Charges what the session is to hold, or to hold elsewhere.
Result<MemoryBook::Move> Moves::charge(const Session& session, const Move& move) {
  MemoryBook& memory = needs_.tenancies.memory();
  const DeviceView before = needs_.devices.in_books(session.moved.homes_in(session.devices));
  const DeviceView after = needs_.devices.in_books(move.map.homes_in(session.devices));
  if (move.restored) {
    FAIRGV_TRY(charged, memory.begin_return(session.id, after, move.restored->holdings));
    const auto held = memory.holdings(session.id);
    for (std::size_t i = 0; i < held.size() && i < before.size(); ++i)
      charged->left[before.host(i)] += held[i];
    return charged;
  }
  return session.parked ? memory.begin_return(session.id, after, session.parked->holdings)
                        : memory.begin_move(session.id, before, after);
}

/// The new worker is ready to go on: from here on the old one cannot.
void Moves::put_back(Session& session, Move& move) {
  const auto segment = std::make_shared<UniqueFd>(::fcntl(session.segment_fd.get(), F_DUPFD_CLOEXEC, 0));
  const auto contents = std::make_shared<UniqueFd>(std::move(move.restored->contents));
  const ring::SegmentPreamble& layout = session.header.header().preamble;
  const std::uint64_t offset = layout.offsets.slots;
  const std::uint64_t bytes = layout.offsets.total - offset;
  move.is_changed = true;
  const auto begun = work_.start(
      [segment, contents, offset, bytes](const std::atomic<bool>& stop) {
        return replace_contents(segment->get(), offset, contents->get(), bytes, stop);
      },
      [this, id = session.id](const Result<void>& result) { on_put_back(id, result); });
  if (!begun) return fail(session, begun.error().message);
  move.wait = Wait{std::chrono::steady_clock::now() + kMakingPatience, "its memory was not put back",
                   [this, work = begun.value()] { work_.forget(work); }};
}

void Moves::on_put_back(SessionId id, const Result<void>& result) {
  Session& session = *needs_.sessions.find(id);
  Move& move = under_way_.at(id);
  move.wait.reset();
  if (!result) return fail(session, result.error().message);
  commit(session, move);
}

}  // namespace fairgv::daemon
