#include "runtime/daemon/moves/drains.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "runtime/daemon/moves/session_words.hpp"
#include "runtime/daemon/service/deadlines.hpp"

namespace fairgv::daemon {
namespace {

using Clock = std::chrono::steady_clock;

/// How often to look whether other moves have ended.
constexpr std::chrono::milliseconds kLookForMoves{20};

/// The places where its program's devices lie, a bit each for the host's devices.
bool lies_on(const Session& session, std::uint32_t device) {
  const auto homes = homes_of(session);
  return std::find(homes.begin(), homes.end(), device) != homes.end();
}

}  // namespace

Result<void> Drains::may_begin(std::uint32_t device) const {
  if (device >= needs_.devices.table().size()) {
    return Error{fmt::format("there is no device {}: see 'fairgv ps' (devices are known once a program runs)",
                             device)};
  }
  const auto task = tasks_.find(device);
  if (task == tasks_.end()) return {};
  return Error{fmt::format("sessions still {} device {}: try again when they have",
                           task->second.comes_back ? "come back to" : "leave", device)};
}

Result<std::optional<std::string>> Drains::begin(std::uint32_t device, const Account& by, std::uint64_t key) {
  FAIRGV_CHECK(may_begin(device));
  needs_.devices.set_drained(device, true);
  needs_.log.info(by, "device {} is drained by user {}", device, by.owner);
  return start(device, {.by = by, .key = key});
}

Result<std::optional<std::string>> Drains::end(std::uint32_t device, const Account& by, std::uint64_t key) {
  FAIRGV_CHECK(may_begin(device));
  if (!needs_.devices.table().is_drained(device))
    return Error{fmt::format("device {} is not drained", device)};
  needs_.devices.set_drained(device, false);
  needs_.log.info(by, "device {} is no longer drained, by user {}", device, by.owner);
  return start(device, {.comes_back = true, .by = by, .key = key});
}

void Drains::go_on() {
  const std::set<std::uint32_t> drained = needs_.devices.table().drained;
  for (const std::uint32_t device : drained) evacuate(device);
}

void Drains::evacuate(std::uint32_t device) {
  if (!tasks_.contains(device)) (void)start(device, {.by = {::geteuid(), true}});
}

std::optional<std::string> Drains::start(std::uint32_t device, Task task) {
  for (const auto& [id, session] : needs_.sessions.all()) {
    if (is_concerned(*session, device, task.comes_back)) task.left.push_back(id);
  }
  tasks_.insert_or_assign(device, std::move(task));
  return advance(device);
}

/// A session leaves if anything of its program lies on the device, and comes back if that was so when the
/// device was drained.
bool Drains::is_concerned(const Session& session, std::uint32_t device, bool comes_back) const {
  if (session.stage != Session::Stage::running) return false;
  if (!comes_back) return !session.parked && lies_on(session, device);
  if (session.parked) return session.parked->how.drained == device;
  return std::any_of(session.evacuated.begin(), session.evacuated.end(),
                     [&](const Evacuation& each) { return session.devices.host(each.home) == device; });
}

/// Begins with the next session that can begin; the answer, when none is left.
std::optional<std::string> Drains::advance(std::uint32_t device) {
  Task& task = tasks_.at(device);
  task.again.reset();
  std::size_t waiting = 0;  // of those that are left, from the last one on
  while (waiting < task.left.size()) {
    const SessionId id = task.left.front();
    task.left.pop_front();
    Session* const session = needs_.sessions.find(id);
    if (session == nullptr || !is_concerned(*session, device, task.comes_back)) continue;
    if (!needs_.moves.may_ask(*session)) {
      task.left.push_back(id);
      ++waiting;
    } else if (begin_next(device, task, *session)) {
      return std::nullopt;
    }
  }
  if (!task.left.empty()) {
    task.again = Clock::now() + kLookForMoves;
    return std::nullopt;
  }
  const control::MoveReport report = std::move(task.report);
  tasks_.erase(device);
  return to_text(report);
}

void Drains::advance_and_answer(std::uint32_t device) {
  const auto key = tasks_.at(device).key;
  const auto answer = advance(device);
  if (answer && key) needs_.answer(*key, *answer);
}

/// Whether the session has begun to move; else nothing more is to be done with it.
bool Drains::begin_next(std::uint32_t device, Task& task, Session& session) {
  if (task.comes_back) return bring_back(device, task, session);
  task.targets = targets_of(session, device);
  task.refusal.reset();
  return try_targets(device, task, session);
}

bool Drains::try_targets(std::uint32_t device, Task& task, Session& session) {
  while (!task.targets.empty()) {
    const std::uint32_t target = task.targets.front();
    task.targets.pop_front();
    task.moved.clear();
    DeviceMap::Pairs placed;
    for (std::uint32_t each = 0; each < session.devices.size(); ++each) {
      const std::uint32_t place = session.moved.place_of(each);
      if (session.devices.hides(each) || session.devices.host(place) != device) continue;
      const auto before =
          std::find_if(session.evacuated.begin(), session.evacuated.end(),
                       [each](const Evacuation& evacuation) { return evacuation.device == each; });
      task.moved.push_back({each, before == session.evacuated.end() ? place : before->home, target});
      placed.emplace_back(each, target);
    }
    const auto begun =
        needs_.moves.begin_on(session, session.moved.with(placed, session.devices),
                              [this, device](const MoveOutcome& outcome) { on_done(device, outcome); });
    if (begun) return true;
    task.refusal = begun.error();
  }
  return park(device, task, session);
}

bool Drains::park(std::uint32_t device, Task& task, Session& session) {
  task.moved.clear();
  const auto begun =
      needs_.moves.park(session, {.by = {task.by.owner, task.by.administrator}, .drained = device},
                        [this, device](const MoveOutcome& outcome) { on_done(device, outcome); });
  if (begun) return true;
  note(device, task, {.session = session.id, .failure = begun.error()});
  return false;
}

bool Drains::bring_back(std::uint32_t device, Task& task, Session& session) {
  const auto done = [this, device](const MoveOutcome& outcome) { on_done(device, outcome); };
  Result<void> begun;
  if (session.parked) {
    begun = needs_.moves.unpark(session, done);
    // Another of its devices is drained: it goes on with that one.
    for (const std::uint32_t home : homes_of(session)) {
      if (!begun && needs_.devices.table().is_drained(home)) session.parked->how.drained = home;
    }
  } else {
    DeviceMap::Pairs placed;
    for (const Evacuation& each : session.evacuated) {
      if (session.devices.host(each.home) == device) placed.emplace_back(each.device, each.home);
    }
    std::erase_if(session.evacuated,
                  [&](const Evacuation& each) { return session.devices.host(each.home) == device; });
    begun = needs_.moves.begin_on(session, session.moved.with(placed, session.devices), done);
  }
  if (!begun) note(device, task, {.session = session.id, .failure = begun.error()});
  return static_cast<bool>(begun);
}

/// Places for what lies on the device, the best first: the one that the configuration names, other hardware
/// before the same, what can take one more session of the tenant, what is worth most to it, and what has the
/// fewest sessions.
std::deque<std::uint32_t> Drains::targets_of(const Session& session, std::uint32_t device) {
  const DeviceTable& table = needs_.devices.table();
  const Tenant& tenant = *needs_.tenancies.registry().find(session.tenant);
  const DevicesWanted wanted = needs_.config.tenants.devices_of(tenant.name, tenant.class_name);
  const auto named = needs_.config.devices.of(device).evacuate_to;
  using Rank = std::tuple<bool, bool, bool, std::uint64_t, std::ptrdiff_t, std::uint32_t>;
  std::vector<std::pair<Rank, std::uint32_t>> ranked;
  for (std::uint32_t place = 0; place < session.devices.size(); ++place) {
    const std::uint32_t host = session.devices.host(place);
    if (table.is_drained(host) || !wanted.may_be(host)) continue;
    const auto worth = needs_.devices.placements().worth(tenant, host);
    const auto sessions = std::count_if(needs_.sessions.all().begin(), needs_.sessions.all().end(),
                                        [host](const auto& entry) { return lies_on(*entry.second, host); });
    ranked.emplace_back(Rank{named != host, table.hardware[host] == table.hardware[device], !worth,
                             ~worth.value_or(0), sessions, host},
                        place);
  }
  std::sort(ranked.begin(), ranked.end());
  std::deque<std::uint32_t> places;
  for (const auto& [rank, place] : ranked) places.push_back(place);
  return places;
}

void Drains::on_done(std::uint32_t device, const MoveOutcome& outcome) {
  Task& task = tasks_.at(device);
  Session* const session = needs_.sessions.find(outcome.session);
  if (session == nullptr || outcome.has_ended) return advance_and_answer(device);
  const bool was_to_move = !task.moved.empty();
  if (outcome.failure && was_to_move) {
    task.refusal = outcome.failure;
    if (!try_targets(device, task, *session)) advance_and_answer(device);
    return;
  }
  if (!outcome.failure)
    session->evacuated.insert(session->evacuated.end(), task.moved.begin(), task.moved.end());
  task.moved.clear();
  note(device, task, outcome);
  advance_and_answer(device);
}

/// A session that stays, or is parked, says why the last device did not take it, too.
void Drains::note(std::uint32_t device, Task& task, const MoveOutcome& outcome) {
  control::MovedSession moved = moved_session(outcome);
  if (task.refusal && outcome.failure) {
    if (task.refusal->message != moved.error) moved.error = task.refusal->message + "; " + moved.error;
  } else if (task.refusal && moved.to.empty()) {
    moved.reason = task.refusal->message;
  }
  task.report.moves.push_back(std::move(moved));
  Session* const session = needs_.sessions.find(outcome.session);
  const bool stays = outcome.failure && !task.comes_back && needs_.devices.table().has_failed(device);
  if (stays && session != nullptr) needs_.stays(*session, device);
}

// -- time

std::optional<Drains::Time> Drains::deadline() const {
  std::optional<Time> first;
  for (const auto& [device, task] : tasks_) keep_earlier(first, task.again);
  return first;
}

void Drains::expire(Time now) {
  std::vector<std::uint32_t> due;
  for (const auto& [device, task] : tasks_) {
    if (task.again && now >= *task.again) due.push_back(device);
  }
  for (const std::uint32_t device : due) advance_and_answer(device);
}

}  // namespace fairgv::daemon
