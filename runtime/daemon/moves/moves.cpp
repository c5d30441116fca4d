#include "runtime/daemon/moves/moves.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>
#include <variant>

#include "runtime/daemon/service/deadlines.hpp"
#include "runtime/daemon/sessions/processes.hpp"
#include "runtime/daemon/sessions/processor_watch.hpp"
#include "runtime/session/move/orders.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

std::string name_of_session(const Session& session) {
  return "session " + std::to_string(session.id.value);
}

double in_milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::vector<std::uint32_t> homes_of(const Session& session) {
  return session.moved.places_in(session.devices).shown();
}

}  // namespace

// -- beginning

Result<void> Moves::begin(Session& session, std::optional<std::uint32_t> to, Done done) {
  const std::string name = name_of_session(session);
  if (session.worker.is_program()) {
    return Error{name +
                 " is direct: its program has the driver in its own process, and cannot go on with another"};
  }
  if (!refused_.empty()) return Error{name + " cannot move now: " + refused_};
  if (session.moving) return Error{name + " is moving already"};
  if (owing_.contains(session.id)) {
    return Error{name +
                 " has not come to rest since it was told to, and cannot move before: try again later"};
  }
  if (under_way_.size() >= kMost)
    return Error{fmt::format("{} sessions are moving already: try again when one of them has moved", kMost)};
  DeviceMap::Pairs pairs;
  if (to) {
    FAIRGV_TRY(wanted, pairs_for(session, *to));
    pairs = std::move(wanted).value();
  }
  FAIRGV_TRY(worker, needs_.starter.start_successor(session));
  const auto now = Clock::now();
  const MoveSteps::Patience patience{WorkerStarter::kPatience, needs_.config.session.move_patience,
                                     kMakingPatience};
  Move& move = under_way_
                   .emplace(session.id, Move{.steps = MoveSteps(patience, now),
                                             .worker = std::move(worker).value(),
                                             .clock = ProcessorClock(0),
                                             .pairs = std::move(pairs),
                                             .done = std::move(done),
                                             .outcome = {.session = session.id, .from = homes_of(session)}})
                   .first->second;
  move.clock = ProcessorClock(move.worker.process.pid());
  session.moving = true;
  auto watched = watch(session.id, move);
  if (watched) {
    if ((session.features & session::kDriverMessages) != 0) move.worker.messages->hold_for_program();
    watched = move.worker.messages->relay(needs_.events,
                                          name + " of tenant " + session.tenant_name + " (its next worker)");
  }
  if (watched) return {};
  move.done = [](const MoveOutcome&) {};
  fail(session, watched.error().message);
  return watched;
}

/// The places that the session uses: its worker was granted memory of them, or has used their time.
Result<DeviceMap::Pairs> Moves::pairs_for(const Session& session, std::uint32_t to) const {
  const SessionLook look = needs_.dispatch.looks().session(session.id);
  const auto holdings = needs_.tenancies.memory().holdings(session.id);
  const auto used_ns = session.devices.pick(look.used_ns);
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < session.devices.size(); ++i) {
    if (used_ns[i] > 0 || (i < holdings.size() && holdings[i] > 0)) used |= std::uint64_t{1} << i;
  }
  auto pairs = moves_to(session.moved.places_in(session.devices), used, to);
  if (!pairs) return Error{name_of_session(session) + " " + pairs.error().message};
  return pairs;
}

Result<void> Moves::watch(SessionId id, Move& move) {
  auto channel = needs_.events.watch(move.worker.channel.fd(), [this, id] { on_message(id); });
  if (!channel) return channel.error();
  move.channel_watch = std::move(channel).value();
  auto process = needs_.events.watch(move.worker.process.pidfd(), [this, id] { on_end(id); });
  if (!process) return process.error();
  move.process_watch = std::move(process).value();
  return {};
}

void Moves::refuse(const std::string& reason) {
  refused_ = reason;
  if (reason.empty()) return;
  for (const auto& [id, session] : needs_.sessions.all()) {
    if (session->moving) fail(*session, reason);
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
  if (due && due.value() == MoveSteps::Due::write_image) {
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
  const auto found = under_way_.find(session.id);
  const bool asked = found != under_way_.end() && found->second.steps.step() == MoveSteps::Step::writing;
  if (!asked) return owing_.erase(session.id) > 0;
  Move& move = found->second;
  const auto* const image = std::get_if<session::ImageWritten>(&message);
  if (image != nullptr) move.outcome.bytes = image->bytes;
  go_on(session, move, move.steps.hear_old(message));
  return true;
}

bool Moves::rests(const Session& session) const {
  const auto found = under_way_.find(session.id);
  return found != under_way_.end() && found->second.steps.step() == MoveSteps::Step::making;
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
  Result<void> done = due ? Result<void>() : Result<void>(due.error());
  if (due && due.value() == MoveSteps::Due::commit) return commit(session, move);
  if (due && due.value() == MoveSteps::Due::write_image) done = order_image(session, move);
  if (due && due.value() == MoveSteps::Due::make_again)
    done = order_made_again(session, move, move.outcome.bytes);
  // A worker that asks for what no worker asks for has ended the session.
  if (!done && under_way_.contains(session.id)) fail(session, done.error().message);
}

Result<void> Moves::order_image(Session& session, Move& move) {
  move.image.reset(::memfd_create("fairgv-image", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!move.image) return system_error("cannot make a memory file for its image");
  if (!session.channel.send(to_text(session::WriteImage{}), {move.image.get()}))
    return Error{"its worker does not listen"};
  move.steps.begin_writing(Clock::now());
  return {};
}

Result<void> Moves::order_made_again(Session& session, Move& move, std::uint64_t bytes) {
  struct stat file {};
  if (::fstat(move.image.get(), &file) != 0 || static_cast<std::uint64_t>(file.st_size) < bytes)
    return Error{"its worker's image is shorter than it should be"};
  // A file that got shorter would end the new worker while it reads.
  if (::fcntl(move.image.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return system_error("cannot seal its worker's image");
  // What the worker has asked for before it came to rest counts.
  if (!hooks_.answer_ledger(session)) return Error{"the session ends"};
  MemoryBook& memory = needs_.tenancies.memory();
  const DeviceView in_books = needs_.devices.in_books(session.devices);
  FAIRGV_TRY(charged, memory.begin_move(session.id, in_books, move.pairs));
  move.charged = std::move(charged).value();
  needs_.tenancies.account_memory(session.tenant_name);
  const DeviceMap map = session.moved.after(move.pairs, session.devices.size());
  FAIRGV_CHECK(
      needs_.markets.sell(*needs_.tenancies.registry().find(session.tenant), map.places_in(session.devices)));
  const session::MakeAgain order{bytes, move.charged->holdings, map.moved()};
  if (!move.worker.channel.send(to_text(order), {move.image.get()}))
    return Error{"its new worker does not listen"};
  move.steps.begin_making(Clock::now());
  return {};
}

/// From here on the session is the new worker's, whatever becomes of it.
void Moves::commit(Session& session, Move& under_way) {
  Move move = std::move(under_way);
  under_way_.erase(session.id);
  move.channel_watch.reset();
  move.process_watch.reset();
  session.ran_before = ProcessorWatch::look(session).value_or(session.ran_before);
  session.channel_watch.reset();
  session.ledger_watch.reset();
  session.worker_watch.reset();
  std::swap(session.channel, move.worker.channel);
  std::swap(session.ledger, move.worker.ledger);
  std::swap(session.messages, move.worker.messages);
  std::swap(session.worker, move.worker.process);
  session.processor_clock = move.clock;
  session.moved = session.moved.after(move.pairs, session.devices.size());
  session.moving = false;
  // The new worker begins with a page on which nothing is wanted: before it goes on.
  needs_.dispatch.move_session(dispatched_session(session, needs_.tenancies.registry()));
  retired_.add(session.id, std::move(move.worker.process), std::move(move.worker.messages));
  needs_.tenancies.memory().end_move(session.id, *move.charged, true);
  needs_.tenancies.account_memory(session.tenant_name);
  needs_.devices.placements().move(session);
  needs_.markets.apply();
  move.outcome.held = move.steps.held(Clock::now());
  move.outcome.to = homes_of(session);
  auto done = hooks_.watch_worker(session);
  if (done) done = session.channel.send(to_text(session::GoOn{}));
  if (!done) {
    hooks_.end(session, "its new worker does not listen: " + done.error().message, Fault::crash);
    move.outcome.failure = done.error();
    return move.done(move.outcome);
  }
  needs_.log.info(session.account,
                  "session {} of tenant {} has moved to worker {}, on device {}: image of {} bytes, held for "
                  "{:.1f} ms",
                  session.id.value, session.tenant_name, session.worker.pid(),
                  fmt::join(move.outcome.to, ","), move.outcome.bytes, in_milliseconds(move.outcome.held));
  move.done(move.outcome);
}

void Moves::fail(Session& session, const std::string& reason) {
  const auto found = under_way_.find(session.id);
  Move move = std::move(found->second);
  under_way_.erase(found);
  const MoveSteps::Old old = move.steps.old();
  // Its answer may be on its way, and is none to a later order.
  if (old == MoveSteps::Old::writes) owing_.insert(session.id);
  const bool goes_on = old == MoveSteps::Old::serves || session.channel.send(to_text(session::GoOn{}));
  give_up(session, std::move(move), reason);
  if (!goes_on) hooks_.end(session, "its worker does not listen", Fault::violation);
}

/// The new worker goes, and everything is as it was.
void Moves::give_up(Session& session, Move move, const std::string& reason) {
  move.channel_watch.reset();
  move.process_watch.reset();
  session.moving = false;
  if (move.charged) {
    needs_.tenancies.memory().end_move(session.id, *move.charged, false);
    needs_.tenancies.account_memory(session.tenant_name);
  }
  auto ran = move.worker.process.group_processor_time();
  if (!ran) ran = move.clock.read();
  session.ran_before += ran.value_or(std::chrono::nanoseconds(0));
  retired_.add(session.id, std::move(move.worker.process), std::move(move.worker.messages));
  needs_.log.info(session.account, "session {} of tenant {} does not move: {}", session.id.value,
                  session.tenant_name, reason);
  move.outcome.failure = Error{name_of_session(session) + " does not move: " + reason};
  move.done(move.outcome);
}

void Moves::forget(Session& session) {
  owing_.erase(session.id);
  const auto found = under_way_.find(session.id);
  if (found == under_way_.end()) return;
  Move move = std::move(found->second);
  under_way_.erase(found);
  give_up(session, std::move(move), "it has ended");
}

// -- time

std::optional<Moves::Time> Moves::deadline() const {
  std::optional<Time> first = retired_.deadline();
  for (const auto& [id, move] : under_way_) {
    keep_earlier(first, std::optional(move.steps.deadline()));
    keep_earlier(first, move.worker.messages->deadline());
  }
  return first;
}

void Moves::expire(Time now) {
  retired_.expire(now);
  std::vector<SessionId> late;
  for (const auto& [id, move] : under_way_) {
    move.worker.messages->expire(now);
    if (now >= move.steps.deadline()) late.push_back(id);
  }
  for (const SessionId id : late) {
    const auto found = under_way_.find(id);
    if (found != under_way_.end()) fail(*needs_.sessions.find(id), found->second.steps.too_late());
  }
}

}  // namespace fairgv::daemon
