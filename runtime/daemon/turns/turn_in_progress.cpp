#include "runtime/daemon/turns/turn_in_progress.hpp"

#include <algorithm>

#include "sched/turn_plan.hpp"

namespace fairgv::daemon {

TurnInProgress TurnInProgress::adopted(PlaceId id, const session::DeviceTurn& turn, bool asked,
                                       const std::optional<TurnBooks>& books, Time now) {
  // Relaxed: the earlier dispatcher wrote it, and a worker that wrote it since only changes the length of its
  // own turn.
  const bool endless = turn.slice_ns.load(std::memory_order_relaxed) == 0;
  TurnInProgress adopted{.place = id,
                         .commands = turn.commands.load(std::memory_order_relaxed),
                         .wanted = now,
                         .slice = Duration(0),
                         .granted = now,
                         .traced_from = now,
                         .charged_until = now,
                         .asked = asked,
                         .known_before = books.has_value()};
  if (books) {
    adopted.granted = std::min(books->granted, now);
    adopted.traced_from = adopted.charged_until = adopted.granted;
    adopted.charged = books->charged;
    adopted.contested = books->contested;
    adopted.before = books->before;
  }
  if (endless) adopted.ends = now;
  return adopted;
}

void TurnInProgress::contest(Time now, std::optional<Duration> ran_so_far) {
  contested = now;
  before = charged;
  ran = ran_so_far;
}

void TurnInProgress::shift(Duration pause) {
  granted += pause;
  charged_until += pause;
  if (ends) *ends += pause;
  if (contested) *contested += pause;
  if (obstructs_since) *obstructs_since += pause;
}

void TurnInProgress::note_charge(Duration used, Time now) {
  charged += used;
  charged_until = now;
}

bool TurnInProgress::is_fresh(const SessionPlace& its, Time now) const {
  return now < granted + kFreshGrant && its.turn->commands.load(std::memory_order_relaxed) == commands;
}

bool TurnInProgress::outlasts(Duration limit, Time now) {
  if (!obstructs_since) obstructs_since = now;
  return limit > Duration(0) && now - *obstructs_since > limit;
}

TurnInProgress::Window TurnInProgress::end_expected() const {
  const Time end = granted + slice;
  return {end - slice / sched::TurnPlan::kWorthwhileFraction, end + slice / kEndsLaterBy};
}

TracedTurn TurnInProgress::traced(Time now, bool over) const {
  return {place.session,    place.device, wanted, traced_from, std::max(now, traced_from),
          charged - logged, slice,        over,   promised,    in_flight};
}

}  // namespace fairgv::daemon
