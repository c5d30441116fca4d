#include "runtime/daemon/moves/moves.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "runtime/daemon/moves/session_words.hpp"
#include "runtime/daemon/moves/worker_exchange.hpp"
#include "runtime/daemon/service/deadlines.hpp"
#include "runtime/daemon/sessions/processes.hpp"
#include "runtime/daemon/worker/hang_up.hpp"
#include "runtime/session/move/orders.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

double in_milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

void Moves::refuse(const std::string& reason) {
  refused_ = reason;
  if (reason.empty()) return;
  for (const auto& [id, session] : needs_.sessions.all()) {
    const auto found = under_way_.find(id);
    // One whose memory is being put back is about to be done, and could not go on otherwise.
    if (found != under_way_.end() && !found->second.is_changed) fail(*session, reason);
  }
}

// -- hearing both workers

void Moves::on_message(SessionId id) {
  hear_new(id);
}

/// False when the new worker has nothing more to say now, or its move is over.
bool Moves::hear_new(SessionId id) {
  const auto found = under_way_.find(id);
  Session* const session = needs_.sessions.find(id);
  if (found == under_way_.end() || session == nullptr) return false;
  Move& move = found->second;
  const auto packet = move.worker.channel.receive_text();
  if (!packet || packet->kind == Packet::Kind::closed) move.channel_watch.reset();  // its end follows
  if (!packet || packet->kind != Packet::Kind::message) return false;
  const auto message = session::parse_worker_message(packet->text);
  auto due = message ? move.steps.hear_new(message.value()) : Result<MoveSteps::Due>(message.error());
  if (due && move.wait) due = Error{"its new worker spoke out of turn"};
  if (due && std::holds_alternative<session::WorkerReady>(message.value())) {
    if (const auto ready = check_ready(*session, message.value()); !ready) due = ready.error();
  }
  go_on(*session, move, due);
  return true;
}

/// Programs have seen the session's devices.
Result<void> Moves::check_ready(const Session& session, const session::WorkerMessage& message) const {
  const auto& ready = std::get<session::WorkerReady>(message);
  const auto placed = place_devices(needs_.devices.table().devices, ready.devices);
  if (placed && placed->added.empty() && placed->view.all() == session.devices.all()) return {};
  return Error{
      fmt::format("its new worker sees other devices than the session has, {} instead of {}: the "
                  "drivers, or their order, have changed",
                  ready.devices.size(), session.devices.size())};
}

bool Moves::hear(Session& session, const session::WorkerMessage& message) {
  using Step = MoveSteps::Step;
  const auto found = under_way_.find(session.id);
  const Step step = found == under_way_.end() ? Step::opening : found->second.steps.step();
  const auto* const copied = std::get_if<session::CopiedAhead>(&message);
  const bool asked = (step == Step::writing || step == Step::copying) && !found->second.wait;
  if (!asked) {
    // A copy ahead, or the refusal to make one, that nobody waits for any more.
    const bool is_late = copied != nullptr || std::holds_alternative<session::CannotMove>(message);
    const bool was_owed = copied == nullptr && std::exchange(session.owes_answer, false);
    return is_late || was_owed;
  }
  Move& move = found->second;
  const auto due = move.steps.hear_old(message);
  if (due && copied != nullptr && due.value() != MoveSteps::Due::nothing) move.image_bytes = copied->bytes;
  const auto* const image = std::get_if<session::ImageWritten>(&message);
  if (image != nullptr) move.image_bytes = image->bytes;
  go_on(session, move, due);
  return true;
}

bool Moves::rests(const Session& session) const {
  const auto found = under_way_.find(session.id);
  if (found == under_way_.end()) return false;
  using Step = MoveSteps::Step;
  const MoveSteps& steps = found->second.steps;
  return found->second.wait || steps.step() == Step::making ||
         (steps.step() == Step::sending && !steps.sends_ahead());
}

void Moves::on_end(SessionId id) {
  while (hear_new(id)) {
  }
  const auto found = under_way_.find(id);
  Session* const session = needs_.sessions.find(id);
  if (found == under_way_.end() || session == nullptr) return;
  Move& move = found->second;
  move.worker.messages->finish();
  fail(*session, "its new worker " + move.worker.process.ending() + " (see the daemon's log)");
}

// -- the steps

void Moves::go_on(Session& session, Move& move, const Result<MoveSteps::Due>& due) {
  using Due = MoveSteps::Due;
  if (due && due.value() == Due::commit)
    return move.restored ? put_back(session, move) : commit(session, move);
  Result<void> done = due ? Result<void>() : Result<void>(due.error());
  switch (due ? due.value() : Due::nothing) {
    case Due::copy_ahead:
      done = order_copy(session, move);
      break;
    case Due::write_image:
      done = order_image(session, move);
      break;
    case Due::make_ahead:
    case Due::make_again:
      if (!session.parked) done = take_image(session, move);
      if (done && move.parks) return store_image(session, move);
      if (done && move.rested) return hand_out(session, move);
      if (done) done = send_image(session, move, due.value() == Due::make_ahead);
      break;
    case Due::commit:
    case Due::nothing:
      break;
  }
  // A worker that asks for what no worker asks for has ended the session.
  if (!done && under_way_.contains(session.id)) fail(session, done.error().message);
}

/// Contents are copied in the session's turns: a session that gets none has nothing copied ahead. Nor has one
/// whose worker hands nothing more to a device that has failed.
Result<void> Moves::order_copy(Session& session, Move& move) {
  const Tenant* const tenant = needs_.tenancies.registry().find(session.tenant);
  const auto homes = homes_of(session);
  const bool has_failed = std::any_of(homes.begin(), homes.end(), [this](std::uint32_t home) {
    return needs_.devices.table().has_failed(home);
  });
  const bool has_turns = !session.paused && (tenant == nullptr || !tenant->paused) && !has_failed;
  if (!has_turns || move.restored) return order_image(session, move);
  FAIRGV_CHECK(make_image_file(move));
  const std::uint64_t number = ++copies_ordered_;
  if (!session.channel.send(to_text(session::CopyAhead{number}), {move.image.get()}))
    return unheard(session.channel, "its worker");
  move.steps.begin_copying(number, Clock::now());
  return {};
}

Result<void> Moves::make_image_file(Move& move) {
  move.image.reset(::memfd_create("fairgv-image", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!move.image) return system_error("cannot make a memory file for its image");
  return {};
}

Result<void> Moves::order_image(Session& session, Move& move) {
  FAIRGV_CHECK(make_image_file(move));
  if (!session.channel.send(to_text(session::WriteImage{move.steps.copied()}), {move.image.get()}))
    return unheard(session.channel, "its worker");
  move.steps.begin_writing(Clock::now());
  return {};
}

/// The old worker says that its image is complete.
Result<void> Moves::take_image(Session& session, Move& move) {
  struct stat file {};
  if (::fstat(move.image.get(), &file) != 0 || static_cast<std::uint64_t>(file.st_size) < move.image_bytes)
    return Error{"its worker's image is shorter than it should be"};
  // A file that got shorter would end the new worker while it reads.
  if (::fcntl(move.image.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return system_error("cannot seal its worker's image");
  // Memory that the worker has asked for before counts.
  if (!hooks_.answer_ledger(session)) return Error{"the session ends"};
  return {};
}

/// Whatever it holds by now is charged where it goes, over what was charged at an earlier copy.
Result<void> Moves::charge_target(Session& session, Move& move) {
  if (move.charged) {
    FAIRGV_CHECK(needs_.tenancies.memory().go_on(
        session.id, *move.charged, needs_.devices.in_books(session.moved.homes_in(session.devices)),
        needs_.devices.in_books(move.map.homes_in(session.devices))));
  } else {
    FAIRGV_TRY(charged, charge(session, move));
    move.charged = std::move(charged).value();
  }
  needs_.tenancies.account_memory(session.tenant_name);
  return {};
}

Result<void> Moves::send_image(Session& session, Move& move, bool ahead) {
  if (session.parked) move.image_bytes = session.parked->bytes;
  if (move.restored) move.image_bytes = move.restored->bytes;
  const auto& link = needs_.config.session.move_link;
  if (!link) return order_made(session, move, ahead);
  move.steps.begin_sending(ahead, Clock::now() + link->time_for(move.image_bytes));
  return {};
}

/// The image has arrived.
Result<void> Moves::order_made(Session& session, Move& move, bool ahead) {
  if (move.restored) {
    FAIRGV_CHECK(move.restored->fits(session));
  }
  FAIRGV_CHECK(charge_target(session, move));
  if (!ahead) {
    FAIRGV_CHECK(needs_.markets.sell(*needs_.tenancies.registry().find(session.tenant),
                                     move.map.places_in(session.devices)));
  }
  move.outcome.bytes += move.image_bytes;
  const session::MakeAgain order{ahead, move.image_bytes, move.charged->holdings, move.map.moved(),
                                 move.map.forced_devices()};
  const int own = session.parked ? session.parked->image.get() : move.image.get();
  const int image = move.restored ? move.restored->image.get() : own;
  if (!move.worker.channel.send(to_text(order), {image}))
    return unheard(move.worker.channel, "its new worker");
  ahead ? move.steps.begin_preparing(Clock::now()) : move.steps.begin_making(Clock::now());
  return {};
}

/// From here on the session is the new worker's, whatever becomes of it.
void Moves::commit(Session& session, Move& under_way) {
  Move move = std::move(under_way);
  under_way_.erase(session.id);
  move.channel_watch.reset();
  move.process_watch.reset();
  WorkerStarter::Successor old = exchange_worker(session, std::move(move.worker));
  session.processor_clock = move.clock;
  session.moved = std::move(move.map);
  std::erase_if(session.evacuated, [&session](const Evacuation& each) {
    return session.moved.place_of(each.device) != each.place;
  });
  session.parked.reset();
  session.moving = false;
  // The new worker begins with a page on which nothing is wanted: before it goes on.
  needs_.dispatch.move_session(dispatched_session(session, needs_.tenancies.registry()));
  needs_.tenancies.memory().hold(session.id, std::move(move.charged->holdings));
  retire(session, std::move(old), std::move(move.charged->left));
  needs_.devices.placements().move(session);
  settle_market(session.tenant);
  needs_.markets.apply();
  move.outcome.held = move.steps.held(Clock::now());
  move.outcome.to = homes_of(session);
  if (const auto watched = hooks_.change_worker(session); !watched) {
    hooks_.end(session, "its new worker cannot be heard: " + watched.error().message, Fault::crash);
    move.outcome.failure = watched.error();
    return move.done(move.outcome);
  }
  if (!session.channel.send(to_text(session::GoOn{}))) {
    const Error error = unheard(session.channel, "its new worker");
    move.outcome.failure = Error{name_of_session(session) + " has moved, and ends: " + error.message};
    hooks_.unheard(session);
    return move.done(move.outcome);
  }
  needs_.log.info(
      session.account,
      "session {} of tenant {} has moved to worker {}, on device {}: images of {} bytes, held for "
      "{:.1f} ms",
      session.id.value, session.tenant_name, session.worker.pid(), fmt::join(move.outcome.to, ","),
      move.outcome.bytes, in_milliseconds(move.outcome.held));
  move.done(move.outcome);
}

/// A purchase of the tenant where it has no session any more, nor will have one soon, is for sale again.
void Moves::settle_market(TenantId tenant) {
  std::vector<std::uint32_t> seen = needs_.sessions.devices_seen_by(tenant);
  for (const auto& [id, move] : under_way_) {
    const Session* const session = needs_.sessions.find(id);
    if (session == nullptr || session->tenant != tenant) continue;
    const auto targets = move.map.places_in(session->devices).shown();
    seen.insert(seen.end(), targets.begin(), targets.end());
  }
  needs_.markets.settle(tenant, seen);
}

void Moves::fail(Session& session, const std::string& reason) {
  const auto found = under_way_.find(session.id);
  Move move = std::move(found->second);
  under_way_.erase(found);
  const MoveSteps::Old old = move.steps.old();
  // Its answer may be on its way, and is none to a later order.
  if (old == MoveSteps::Old::writes) session.owes_answer = true;
  // One that serves lets go of what it knows of copies ahead.
  const bool is_changed = move.is_changed;
  const bool goes_on = is_changed || session.parked || session.channel.send(to_text(session::GoOn{}));
  give_up(session, std::move(move), reason);
  if (is_changed) hooks_.end(session, "its memory was changed by a restore that failed", std::nullopt);
  if (!goes_on) hooks_.unheard(session);
}

/// The new worker goes, and everything is as it was.
void Moves::give_up(Session& session, Move move, const std::string& reason) {
  move.channel_watch.reset();
  move.process_watch.reset();
  if (move.wait && move.wait->forget) move.wait->forget();
  session.moving = false;
  auto ran = move.worker.process.group_processor_time();
  if (!ran && move.clock) ran = move.clock->read();
  session.ran_before += ran.value_or(std::chrono::nanoseconds(0));
  std::vector<std::uint64_t> held;
  if (move.charged) held = std::move(move.charged->entered);
  retire(session, std::move(move.worker), std::move(held));
  settle_market(session.tenant);
  const char* stays = "does not move";
  if (move.parks) stays = "is not parked";
  if (move.rested) stays = "goes on, without a checkpoint";
  if (move.restored) stays = "is not restored";
  const char* const outcome = session.parked && !move.restored ? "stays parked" : stays;
  needs_.log.info(session.account, "session {} of tenant {} {}: {}", session.id.value, session.tenant_name,
                  outcome, reason);
  move.outcome.failure = Error{name_of_session(session) + " " + outcome + ": " + reason};
  move.done(move.outcome);
}

/// `held`: by device of the books, what is given back once nothing of the worker is left.
void Moves::retire(const Session& session, WorkerStarter::Successor worker, std::vector<std::uint64_t> held) {
  if (worker.process.pid() <= 0) return;
  retired_.add(session.id, std::move(worker.process), std::move(worker.messages),
               [this, id = session.id, tenant = session.tenant_name, held = std::move(held)] {
                 needs_.tenancies.memory().give_back(id, held);
                 needs_.tenancies.account_memory(tenant);
               });
}

void Moves::forget(Session& session) {
  const auto found = under_way_.find(session.id);
  if (found == under_way_.end()) return;
  Move move = std::move(found->second);
  under_way_.erase(found);
  move.outcome.has_ended = true;
  give_up(session, std::move(move), "it has ended");
}

// -- time

std::optional<Moves::Time> Moves::deadline() const {
  std::optional<Time> first = retired_.deadline();
  for (const auto& [id, move] : under_way_) {
    keep_earlier(first, std::optional(deadline_of(move)));
    if (move.worker.messages) keep_earlier(first, move.worker.messages->deadline());
  }
  return first;
}

void Moves::expire(Time now) {
  retired_.expire(now);
  std::vector<SessionId> late;
  for (const auto& [id, move] : under_way_) {
    if (move.worker.messages) move.worker.messages->expire(now);
    if (now >= deadline_of(move)) late.push_back(id);
  }
  for (const SessionId id : late) {
    const auto found = under_way_.find(id);
    if (found == under_way_.end()) continue;
    Session& session = *needs_.sessions.find(id);
    Move& move = found->second;
    if (move.steps.step() == MoveSteps::Step::sending) {
      const auto ordered = order_made(session, move, move.steps.sends_ahead());
      if (!ordered && under_way_.contains(id)) fail(session, ordered.error().message);
    } else if (move.steps.goes_on_without()) {
      go_on(session, move, MoveSteps::Due::write_image);
    } else {
      fail(session, too_late(move));
    }
  }
}

}  // namespace fairgv::daemon
