// One device's commands on their way to the driver: the ready commands, which of them is next and how it runs
// (whole, in parts, after its code is made), and how much this device's turn permits.
//
// A launch whose machine code the driver still has to make goes to the driver before its turn, alone, and
// waits there: other tenants have the device while a compiler runs, and no turn measures one. Other commands
// that are ready wait meanwhile, too, because the driver may have one thread only.
//
// Calls no driver. Externally synchronised by the executor's lock, except changed().
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/vgpu/graph/command_graph.hpp"
#include "runtime/vgpu/graph/device_command.hpp"
#include "runtime/vgpu/graph/event_table.hpp"
#include "runtime/vgpu/issue/settings.hpp"
#include "runtime/vgpu/issue/slicer.hpp"
#include "runtime/vgpu/residency/residency.hpp"
#include "runtime/vgpu/turn/turn_client.hpp"

namespace fairgv::vgpu {

/// For hints, which are checked again with the lock held.
inline constexpr auto kHint = std::memory_order_relaxed;

/// The pause before a knock that failed, or a notice that found a full ring, is tried again: rare, and no
/// bell rings when there is room.
inline constexpr std::chrono::milliseconds kRetry{1};

/// Takes commands that the graph has made ready to the issuers.
class ReadyCommands {
 public:
  virtual void collect_ready() = 0;

 protected:
  ~ReadyCommands() = default;
};

/// The state that the issuers of a session share: the executor's, which outlives them.
struct IssueShared {
  const IssueSettings& settings;
  CommandGraph& graph;
  EventTable& events;
  ReadyCommands& ready;
  std::vector<NodePtr>& dropped;          // nodes that nothing needs any more
  std::atomic<std::uint64_t>& in_flight;  // of all devices; written with the lock held, relaxed: a hint
};

/// Commands that are handed to a driver together.
using Batch = std::vector<std::shared_ptr<DeviceCommand>>;

class DeviceIssuer {
 public:
  static constexpr std::size_t kMostInBatch = 16;

  DeviceIssuer(session::DeviceTurn& turn, const IssueShared& shared, wire::DeviceIndex index);

  // ---- the next command

  void add(std::shared_ptr<DeviceCommand> ready) { ready_.push_back(std::move(ready)); }
  /// The command to issue next, or nothing; also whether something is to be prepared first (prepares()).
  Next next();
  /// How many commands may be issued now, by TurnClient.
  Permit may_issue(const Next& next, TimePoint now) {
    const Permit permit = !lends() ? turn_.may_issue(next, now) : may_issue_with_memory(next, now);
    if (!next) {
      turn_.tell_wait(why_nothing_is_next());
    } else if (permit.count == 0) {
      first_waits_ = permit.why;
      turn_.tell_wait(permit.why);
    }
    return permit;
  }
  /// By the latest next(): a launch is to be prepared for running in parts, or to be compiled, before
  /// anything else.
  bool prepares() const { return slicer_.has_to_prepare() || compile_next_; }
  /// The launch that is to be prepared, if any; asking takes it.
  SliceableLaunch* take_to_prepare() { return slicer_.take_to_prepare(); }
  /// The first command, if it is to be compiled: hand it to the driver by DeviceCommand::compile() now, then
  /// call compiled() or compile_refused(). Nothing is in flight on the device, so all that it depends on has
  /// ended. Null: there is nothing to compile.
  std::shared_ptr<DeviceCommand> begin_compiling();
  void compile_refused(const std::shared_ptr<DeviceCommand>& command);
  void compiled(DeviceCommand& command);

  /// While it rests, or its device is said to have failed, only what is in the driver's hands goes on: a part
  /// of a launch, a command that was compiled there.
  enum class Rest {
    begins,
    ends,
    is_taken_over,  // another worker's rest, before any command
    device_fails,
    device_is_used  // again
  };
  void rest(Rest rest);
  /// Nothing is in the driver's hands, and no turn is under way.
  bool at_rest() const {
    return turn_.in_flight() == 0 && !compiling_ && compiled_ == nullptr && !turn_.is_busy();
  }

  // ---- issuing

  /// Moves what may be issued now, at most `allowed` commands, to the empty `batch`. `cpu`: where the program
  /// was when it sent its latest call.
  void pick(Batch& batch, std::uint64_t allowed, std::uint32_t cpu, TimePoint now);
  /// Nothing more is issued now: ends the turn if it is over.
  void rest(const Next& next, TimePoint now);

  // ---- ends

  /// A command's end was reported. True if it was a part of it; the command may have ended with that, too.
  bool ended_part(DeviceCommand& command, std::int32_t status, TimePoint now);
  /// The driver did not take the command: true if that was a part, and is dealt with. The launch runs whole
  /// instead; one that has begun in parts ends with the error.
  bool refused_part(DeviceCommand& command, TimePoint now);
  /// The graph has ended a command that was issued; by the device's clock at `times`, if there are any.
  void note_end(DeviceCommand& command, const CommandTimes* times, TimePoint now);
  /// All commands of note_end() that ended at once are known: so many commands, launches among them.
  void completed(std::uint64_t commands, std::uint64_t launches, TimePoint now);

  /// The time that commands take here: another worker goes on with it, or this one has begun with it.
  sched::CommandHistory& history() { return turn_.meter().history(); }

  // ---- for the loop

  /// Whether it has commands that are ready, under way, or being compiled.
  bool busy() const { return turn_.in_flight() > 0 || !ready_.empty() || compiling_; }
  bool has_ready() const { return !ready_.empty(); }
  bool holds_turn() const { return turn_.holds_turn(); }
  /// Tells that commands are pending, and that only the program can make one ready.
  void tell_waits_for_program() { turn_.tell_wait(session::TurnWait::program); }
  /// Whether the loop thread should come, to issue or to prepare something, or to end a turn in time.
  bool wants_loop();
  /// A knock that did not get through is tried again. True: not yet.
  bool must_knock() const { return knock_again_; }
  void knock_again();
  /// Whether the dispatcher has moved this turn since somebody looked. Any thread.
  bool changed() const { return turn_.changed() || (lends() && residency_->changed()); }
  /// When the loop must look again at the latest; `awake`: it must not sleep until then.
  struct Deadline {
    TimePoint at = TimePoint::max();
    bool awake = false;
  };
  Deadline deadline(TimePoint now) const;

 private:
  session::TurnWait why_nothing_is_next() const;
  /// Whether the device's memory is lent.
  bool lends() const { return residency_ != nullptr && residency_->is_on(); }
  Permit may_issue_with_memory(const Next& next, TimePoint now);
  void look_at_memory(Offer& offer, DeviceCommand& first);
  bool has_memory(DeviceCommand& first);
  void tell_memory();
  Next offer(DeviceCommand& first, bool in_parts);
  void pick_part(Batch& batch, const Offer& offer, std::uint32_t cpu, TimePoint now);
  void choose_observed(const Batch& batch) const;
  void tell_if_held_long(DeviceCommand& command, TimePoint now);

  const IssueShared shared_;
  const wire::DeviceIndex index_;
  TurnClient turn_;
  Slicer slicer_;
  Residency* const residency_;                        // null: an earlier release's daemon lends no memory
  std::deque<std::shared_ptr<DeviceCommand>> ready_;  // in the order in which they became so
  bool knock_again_ = false;
  bool rests_ = false;
  bool has_failed_ = false;
  bool compile_next_ = false;                 // the first that is ready has to be compiled, alone,
  bool compile_in_parts_ = false;             // as what runs its parts
  std::shared_ptr<DeviceCommand> compiling_;  // handed to the driver to be compiled
  /// The first that is ready, if it has been compiled: it waits in the driver for issue().
  const DeviceCommand* compiled_ = nullptr;
  std::optional<TimePoint> ahead_from_;  // when the next command or part may be issued, if that is to come
  session::TurnWait first_waits_ = session::TurnWait::nothing;  // why the first that is ready waited last
};

}  // namespace fairgv::vgpu
