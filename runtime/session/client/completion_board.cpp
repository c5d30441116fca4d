#include "runtime/session/client/completion_board.hpp"

namespace fairgv::session {

using ring::SlotState;

wire::EventId CompletionBoard::acquire() {
  wire::EventId event;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const std::uint32_t index = free_.back();
      free_.pop_back();
      event = wire::EventId::make(index, generations_[index]);
    } else if (generations_.size() < slots_.size()) {
      generations_.push_back(1);
      event = wire::EventId::make(static_cast<std::uint32_t>(generations_.size() - 1), 1);
    } else {
      return {};
    }
  }
  // Relaxed: other threads learn of the event through the application or the request ring, both of which
  // order it.
  const std::uint64_t quiet = quiet_ ? SlotState::kQuiet : 0;
  slots_[event.index()].state.store(quiet | SlotState::make(event.generation(), kQueued),
                                    std::memory_order_relaxed);
  return event;
}

void CompletionBoard::release(wire::EventId event) {
  const std::lock_guard lock(mutex_);
  std::uint32_t& generation = generations_[event.index()];
  if (generation != event.generation()) return;
  generation = generation == SlotState::kLastGeneration ? 1 : generation + 1;
  free_.push_back(event.index());
}

std::int32_t CompletionBoard::slot_status(wire::EventId event) const {
  // Acquire: pairs with the worker's release store, so that times and results are seen with the status.
  const std::uint64_t state = slots_[event.index()].state.load(std::memory_order_acquire);
  return SlotState::generation(state) == event.generation() ? SlotState::status(state) : kQueued;
}

std::int32_t CompletionBoard::status(wire::EventId event) const {
  const std::int32_t status = slot_status(event);
  return status > kComplete && segment_.closed() ? kDeviceNotAvailable : status;
}

template <class Ready>
void CompletionBoard::spin_through_turn(std::uint32_t turn, Ready& ready) {
  const ring::Coscheduling& coscheduling = segment_.header().coscheduling;
  const auto until = now_() + together_.current();
  while (!ring::detail::spin_briefly(ready)) {
    ring::detail::give_way();
    const bool over = coscheduling.turn.load(std::memory_order_relaxed) != turn;
    if (over || now_() >= until) return;
  }
}

/// Where several threads wait, the first one's time is told. The time that an earlier event's waiter has left
/// is overwritten.
void CompletionBoard::say_since_when(ring::CompletionSlot& slot, std::uint32_t as) const {
  if ((slot.state.load(std::memory_order_relaxed) & SlotState::kQuiet) == 0) return;
  // Relaxed: the worker reads both after it has seen, with acquire, that the event is not quiet any more.
  slot.awaited_from.store(segment_.recorded_time(), std::memory_order_relaxed);
  slot.awaited_as.store(as, std::memory_order_relaxed);
}

std::int32_t CompletionBoard::wait(wire::EventId event, std::int32_t until, std::uint32_t as) {
  const auto ready = [&] { return slot_status(event) <= until || segment_.closed(); };
  if (ready()) return status(event);
  ring::CompletionSlot& slot = slots_[event.index()];
  say_since_when(slot, as);
  // From here on its end is to be rung; see SlotState. Acquire and release: the changes of the word must be
  // in one order.
  slot.state.fetch_and(~SlotState::kQuiet, std::memory_order_acq_rel);
  ring::Coscheduling& coscheduling = segment_.header().coscheduling;
  const std::uint32_t began_in = coscheduling.turn.load(std::memory_order_relaxed);
  const auto began = now_();
  coscheduling.synchronous_calls.fetch_add(1, std::memory_order_relaxed);
  std::uint32_t spun_through = 0;  // even: none yet
  for (;;) {
    const std::uint32_t turn = coscheduling.turn.load(std::memory_order_relaxed);
    const bool spin = (turn & 1U) != 0 && turn != spun_through;
    if (spin) {
      spin_through_turn(turn, ready);
      spun_through = turn;
    }
    bool done = false;
    // Ends when the event does, or when the daemon has switched the session in: then there is a turn to spin
    // through.
    ring::wait(segment_.header().completion_bell, budget_, [&] {
      done = ready();
      const std::uint32_t now = coscheduling.turn.load(std::memory_order_relaxed);
      return done || ((now & 1U) != 0 && now != spun_through);
    });
    if (!done) continue;
    // Within one turn: time that passes while others have the device, or until a turn has begun, says
    // nothing.
    if ((began_in & 1U) != 0 && coscheduling.turn.load(std::memory_order_relaxed) == began_in) {
      together_.slept(now_() - began);
    }
    return status(event);
  }
}

CommandTimes CompletionBoard::times(wire::EventId event) const {
  const ring::CompletionSlot& slot = slots_[event.index()];
  // Relaxed: ordered by the acquire load of the status before.
  const auto read = [](const std::atomic<std::uint64_t>& time) {
    return time.load(std::memory_order_relaxed);
  };
  return {read(slot.queued), read(slot.submitted), read(slot.started), read(slot.ended),
          read(slot.completed)};
}

/// Keeps the bit that says whether a thread waits: of an access that this process ends, the worker writes the
/// end, too, and would take the slot's last waiter for the access's own.
void CompletionBoard::set(wire::EventId event, std::int32_t status) {
  std::atomic<std::uint64_t>& state = slots_[event.index()].state;
  std::uint64_t before = state.load(std::memory_order_relaxed);
  // Release: pairs with the acquire in slot_status(). Acquire: pairs with the waiter, which takes kQuiet back.
  while (!state.compare_exchange_weak(
      before, SlotState::make(event.generation(), status) | (before & SlotState::kQuiet),
      std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
  if ((before & SlotState::kQuiet) == 0) ring::ring(segment_.header().completion_bell);
}

}  // namespace fairgv::session
