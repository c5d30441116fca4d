// The front end's side of the completion slots: hands slots out as events, reads the events' status, and lets
// threads wait for an event.
//
// The worker alone writes the slots of commands; the front end writes those of user events. A slot's state
// holds the generation of the event it belongs to, so a late write for an earlier owner reads as "not begun"
// and hurts nobody. All methods may be called from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/ring/segment.hpp"
#include "runtime/wire/call_names.hpp"
#include "runtime/wire/execution.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::session {

using wire::CommandTimes;
using wire::kComplete;
using wire::kDeviceNotAvailable;
using wire::kQueued;
using wire::kRunning;

class CompletionBoard {
 public:
  /// As long as a worker keeps a turn for the next command: the paper polls 100,000 times. A thread that
  /// waits longer every time is woken anyway, and its spinning only takes a core from others: in a virtual
  /// machine, maybe the very core that stands for the device's.
  static constexpr std::chrono::microseconds kLongestTogether{500};

  using Now = std::chrono::steady_clock::time_point (*)();

  explicit CompletionBoard(const ring::Segment& segment, Now now = std::chrono::steady_clock::now)
      : segment_(segment), slots_(segment.slots()), now_(now) {}

  /// A new event in the state CL_QUEUED; no id when all slots are taken.
  wire::EventId acquire();

  /// Gives the slot back. The worker must already have been told (ReleaseEvent), so that it stops writing the
  /// slot before it can learn of the next owner.
  void release(wire::EventId event);

  /// CL_QUEUED .. CL_COMPLETE, or a negative error; CL_DEVICE_NOT_AVAILABLE when the session is lost before
  /// the event ended.
  std::int32_t status(wire::EventId event) const;

  /// Waits until the event's status is `until` or lower (or the session is lost) and returns its status.
  /// CL_COMPLETE is the end; the worker wakes nobody for an earlier status, but for a granted access. While
  /// the session is switched in to run together with its turn, spins before it sleeps, for up to
  /// kLongestTogether while its waits are not longer. `as` is the call that waits, for traces:
  /// wire/call_names.hpp.
  std::int32_t wait(wire::EventId event, std::int32_t until = kComplete, std::uint32_t as = wire::kOwnCall);

  /// The worker knows SlotState::kQuiet. Before the first event.
  void use_quiet_slots() { quiet_ = true; }

  /// How long waiting threads spin while the session is switched in, as their waits so far have taught.
  std::chrono::nanoseconds spins_together() const { return together_.current(); }

  /// Waiting threads spin for as long as suits devices that have processors of their own, or none.
  void suit(bool devices_are_apart) { budget_.suit(devices_are_apart); }

  /// Valid once status() has been seen to be CL_COMPLETE.
  CommandTimes times(wire::EventId event) const;

  /// For user events, whose status the application sets, and for accesses, which this process ends. Wakes the
  /// threads that wait.
  void set(wire::EventId event, std::int32_t status);

 private:
  std::int32_t slot_status(wire::EventId event) const;
  void say_since_when(ring::CompletionSlot& slot, std::uint32_t as) const;
  /// Spins while this turn lasts, until the event is ready or the wait takes longer than spinning is worth.
  template <class Ready>
  void spin_through_turn(std::uint32_t turn, Ready& ready);

  const ring::Segment& segment_;
  const std::span<ring::CompletionSlot> slots_;
  const Now now_;
  ring::SpinBudget budget_;
  ring::SpinBudget together_ = ring::SpinBudget::of_any_length(kLongestTogether);
  bool quiet_ = false;

  std::mutex mutex_;                        // guards what follows
  std::vector<std::uint32_t> free_;         // slots given back, the latest last: few pages stay touched
  std::vector<std::uint32_t> generations_;  // of every slot that was ever used
};

}  // namespace fairgv::session
