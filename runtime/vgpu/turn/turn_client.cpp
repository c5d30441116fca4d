#include "runtime/vgpu/turn/turn_client.hpp"

#include <algorithm>
#include <utility>

namespace fairgv::vgpu {

using session::TurnState;
using session::TurnWait;

TurnClient::TurnClient(const TurnPages& pages, const TurnSettings& settings, std::function<void()> knock)
    : page_(pages.turn),
      promise_(pages.promise),
      turn_(pages.turn),
      settings_(settings),
      knock_(std::move(knock)),
      seen_(static_cast<std::uint32_t>(turn_.look())),
      due_seen_(pages.turn.due.load(std::memory_order_relaxed)),
      meter_(pages, settings_),
      interactive_(pages.turn, settings.coscheduling) {}

inline Permit TurnClient::of_busy_turn(const Next& next, TimePoint now) {
  const bool work = next.has_value();
  meter_.look(now);
  if (!meter_.contended()) {
    const std::uint64_t in_flight = meter_.in_flight();
    if (work && next->part) {
      const bool in_time = in_flight == 0 || now >= *next->ahead_from;
      return {meter_.admits(*next) && in_time ? 1U : 0U, TurnWait::in_flight};
    }
    const std::uint64_t limit = meter_.in_flight_limit();
    return {limit - std::min(limit, in_flight), TurnWait::in_flight};
  }
  if (meter_.in_flight() == 0) settle(next, now);  // may end the turn
  if (!work) return {};
  if (!meter_.contended()) return {0, TurnWait::slice};
  const TurnWait why = meter_.refuses(*next);
  return {why == TurnWait::nothing ? TurnMeter::kMostInFlight : 0, why};
}

Permit TurnClient::may_issue(const Next& next, TimePoint now) {
  const bool work = next.has_value();
  if (work) linger_.comes_back(now);
  for (;;) {
    const TurnState state = saw(turn_.look());
    notice_due(state, now);
    switch (state) {
      case TurnState::idle:
        if (work) want(*next);
        return {0, TurnWait::turn};
      case TurnState::wanting:
        return {0, TurnWait::turn};
      case TurnState::busy_asked:
        return {0, TurnWait::asked_back};
      case TurnState::held:
        if (!work && page_.slice_ns.load(std::memory_order_relaxed) == 0) return {};
        // A contended turn that came too late to be of use begins too, and is given back by settle().
        if (turn_.begin()) {
          saw(TurnState::busy);
          meter_.begin(std::exchange(rested_, false), now);
        }
        continue;  // or the dispatcher has taken the unused turn back: look again
      case TurnState::busy: {
        const Permit permit = of_busy_turn(next, now);
        if (permit.count > 0 && next && next->lacks_memory) return {0, TurnWait::memory};
        return permit;
      }
    }
    return {};
  }
}

void TurnClient::notice_due(TurnState state, TimePoint now) {
  const std::uint32_t due = page_.due.load(std::memory_order_relaxed);
  const bool announced = due_seen_.exchange(due, std::memory_order_relaxed) != due;
  if (state != TurnState::wanting) {
    due_until_.reset();
  } else if (announced) {
    // The other session's turn is about as long as its last one.
    due_until_ = now + std::max(settings_.slice, meter_.slice()) / kDueFraction;
  }
}

void TurnClient::issued(const Offer& next, std::uint32_t cpu, TimePoint now) {
  linger_.stop();
  interactive_.sent_command(cpu, now);
  meter_.issued(next, now);
}

void TurnClient::settle(const Next& next, TimePoint now) {
  if (meter_.in_flight() != 0) return;
  const bool work = next.has_value();
  // Not saw(): a grant that arrives now must still count as changed(), or nobody would act on it.
  const TurnState state = turn_.look();
  if (state != TurnState::busy && state != TurnState::busy_asked) return;
  if (meter_.contended()) {
    meter_.close_run();
    if (state == TurnState::busy_asked) {
      give_back(next, now);
    } else {
      settle_contended(next, now);
    }
    return;
  }
  if (state == TurnState::busy && work) return;
  if (state == TurnState::busy && meter_.gives_back()) return linger_or_give_back(now);
  if (state == TurnState::busy && turn_.rest()) {
    saw(TurnState::held);
    return;
  }
  give_back(next, now);
}

void TurnClient::settle_contended(const Next& next, TimePoint now) {
  if (meter_.spent() || (next && !meter_.admits(*next))) {
    give_back(next, now);
  } else if (!next) {
    linger_or_give_back(now);
  }
}

/// There is nothing to issue: waits for a moment, and then gives the turn back.
void TurnClient::linger_or_give_back(TimePoint now) {
  if (!linger_.until()) {
    linger_.pauses(meter_.used() ? meter_.last_completion() : now);
    const Duration keep = keep_ ? keep_() : Duration(0);
    if (!linger_.begin(keep)) give_back({}, now);
  } else if (now >= *linger_.until()) {
    linger_.ended_in_vain();
    give_back({}, now);
  }
}

bool TurnClient::worth_issuing(const Offer& next) const {
  const auto state = static_cast<TurnState>(seen_.load(std::memory_order_relaxed));
  if (state == TurnState::wanting || state == TurnState::busy_asked) return false;
  if (state != TurnState::busy) return true;
  if (next.lacks_memory) return false;
  if (next.part) return meter_.in_flight() == 0 || meter_.admits(next);
  if (meter_.contended() && meter_.in_flight() > 0 && !meter_.admits(next)) return false;
  return meter_.has_drained();
}

std::optional<std::uint64_t> TurnClient::slicing_floor() const {
  const std::uint64_t floor = page_.slicing_floor.load(std::memory_order_relaxed);
  return floor == 0 ? std::nullopt : std::optional(floor);
}

std::optional<Duration> TurnClient::overrun_by_one(TimePoint now) {
  if (meter_.in_flight() != 1) return std::nullopt;
  return meter_.overrun_by_one(turn_.look() == TurnState::busy_asked, now);
}

/// Tells policies that look ahead for which commands the turn is wanted.
void TurnClient::publish_next(const Offer& next) {
  if (promise_ == nullptr) return;
  const Duration cost = meter_.history().estimate(next.kind).value_or(Duration(0));
  // Relaxed: ordered by the state that follows.
  promise_->next_cost_ns.store(static_cast<std::uint64_t>(cost.count()), std::memory_order_relaxed);
}

void TurnClient::want(const Offer& next) {
  publish_next(next);
  // The dispatcher may have taken an unused turn back, of which this side heard nothing.
  interactive_.switch_out(meter_.last_completion());
  saw(TurnState::wanting);
  turn_.want();
  knock_();
  // While the dispatcher wakes up and, mostly, another session has the device: a turn of this session has no
  // time for that.
  if (settings_.rest) settings_.rest();
  rested_ = true;
}

void TurnClient::give_back(const Next& next, TimePoint now) {
  const bool work = next.has_value();
  if (work) publish_next(*next);
  if (meter_.gives_back() && meter_.used() && !work) linger_.pauses(meter_.last_completion());
  linger_.stop();
  meter_.end(now);
  interactive_.switch_out(meter_.last_completion());
  saw(work ? TurnState::wanting : TurnState::idle);
  turn_.give_back(work);
  knock_();
}

}  // namespace fairgv::vgpu
