// How moves begin, and which do not.
#include <fmt/core.h>

#include <utility>

#include "runtime/daemon/moves/moves.hpp"
#include "runtime/daemon/moves/session_words.hpp"

namespace fairgv::daemon {

Result<void> Moves::may_begin(const Session& session) const {
  const std::string name = name_of_session(session);
  if (session.worker.is_program()) {
    return Error{name +
                 " is direct: its program has the driver in its own process, and cannot go on with another"};
  }
  if (!refused_.empty()) return Error{name + " cannot move now: " + refused_};
  if (session.moving) return Error{name + " is moving already"};
  if (session.owes_answer) {
    return Error{name +
                 " has not come to rest since it was told to, and cannot move before: try again later"};
  }
  if (under_way_.size() >= kMost)
    return Error{fmt::format("{} sessions are moving already: try again when one of them has moved", kMost)};
  return {};
}

Moves::Move& Moves::add(Session& session, Move move) {
  session.moving = true;
  return under_way_.emplace(session.id, std::move(move)).first->second;
}

Result<void> Moves::begin(Session& session, std::optional<std::uint32_t> to, Done done, bool by_force) {
  FAIRGV_CHECK(may_begin(session));
  if (session.parked)
    return Error{name_of_session(session) + " is parked: let it go on by 'fairgv resume' first"};
  const auto begin_to = [&](const DeviceMap& map) {
    return begin_with_worker(session, by_force ? map.by_force() : map, std::move(done));
  };
  if (!to) return begin_to(session.moved);
  if (needs_.devices.table().is_drained(session.devices.host(*to))) {
    const std::uint32_t device = session.devices.host(*to);
    return Error{fmt::format("{0} does not move: device {1} {2}: 'fairgv undrain {1}' ends that",
                             name_of_session(session), device, needs_.devices.table().why_empty(device))};
  }
  FAIRGV_TRY(pairs, pairs_for(session, *to));
  return begin_to(session.moved.after(pairs.value(), session.devices));
}

Result<void> Moves::begin_on(Session& session, DeviceMap map, Done done) {
  FAIRGV_CHECK(may_begin(session));
  return begin_with_worker(session, std::move(map), std::move(done));
}

Result<void> Moves::begin_with_worker(Session& session, DeviceMap map, Done done) {
  FAIRGV_TRY(worker, needs_.starter.start_successor(session));
  const MoveSteps::Patience patience{WorkerStarter::kPatience, needs_.config.session.move_patience,
                                     needs_.config.session.move_patience, kMakingPatience};
  const ProcessorClock clock(worker->process.pid());
  Move& move = add(
      session, {.steps = MoveSteps(patience, std::chrono::steady_clock::now(), session.parked.has_value()),
                .worker = std::move(worker).value(),
                .clock = clock,
                .map = std::move(map),
                .done = std::move(done),
                .outcome = {.session = session.id, .from = homes_of(session)}});
  auto watched = watch(session.id, move);
  if (watched) {
    if ((session.features & session::kDriverMessages) != 0) move.worker.messages->hold_for_program();
    watched = move.worker.messages->relay(
        needs_.events, name_of_session(session) + " of tenant " + session.tenant_name + " (its next worker)");
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
    if (used_ns[i] > 0) used |= std::uint64_t{1} << i;
    // Memory that is held on a device of the program's lies where the device does.
    const auto place = session.moved.place_of(static_cast<std::uint32_t>(i));
    if (i < holdings.size() && holdings[i] > 0) used |= std::uint64_t{1} << place;
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

}  // namespace fairgv::daemon
