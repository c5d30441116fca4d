// The loop thread's part of an executor: it issues what may be issued, frees what has ended, and decides when
// to look again. Executor::at() gives it to the holder of the helm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/vgpu/executor/executor.hpp"
#include "runtime/vgpu/executor/standing.hpp"
#include "runtime/vgpu/graph/pending_call.hpp"
#include "sched/command_history.hpp"

namespace fairgv::vgpu {

class Executor::Loop {
 public:
  explicit Loop(Executor& executor) : executor_(executor) {}

  /// The facts about the call that is being handled.
  struct Request {
    std::uint32_t cpu = 0;  // where the program was when it sent it
    wire::Opcode opcode = 0;
    std::uint64_t told_ns = 0;          // wire::time_of() its tag
    std::uint64_t number = 0;           // among all calls of the session, in their order
    std::span<const std::byte> call{};  // encoded, as long as it is handled
  };
  void reading(const Request& request) { request_ = request; }
  const Request& request() const { return request_; }

  /// Issues what may be issued, ends what is over, frees what has ended.
  void pump();

  /// As pump(), but frees nothing: the driver may be reporting the ended command just now, or the program may
  /// be about to come back.
  void issue();
  /// Frees nodes that have ended.
  void free_retired();
  /// Whether there is nothing to do, and a turn is kept for the program's next command.
  bool idles_in_turn();

  /// Whether pump() would find something to do: cheap, for the loop's wait.
  bool needs_pump() const {
    // Acquire: pairs with the release in Executor::finish().
    if (executor_.attention_.load(std::memory_order_acquire)) return true;
    for (const auto& issuer : executor_.issuers_) {
      if (issuer->changed()) return true;
    }
    return false;
  }

  /// Whether the commands that have been read are to be issued before more are read, so that the device works
  /// meanwhile. The first command after a pause is issued at once; then, for each pending command, four more
  /// are read first. So the device does not wait for everything that a program sends, and little time goes
  /// into looking after it, even if commands take none.
  bool feeds_first() const {
    const bool begins = pending_seen_ == 1 && !executor_.in_flight();
    const bool goes_on = pending_seen_ >= (1 + kRampUp) * std::max<std::uint64_t>(1, pending_at_issue_);
    return (begins || goes_on) && executor_.attention_.load(std::memory_order_relaxed);
  }

  /// When pump() must be called again at the latest. `awake`: it is so soon that the caller must not sleep.
  DeviceIssuer::Deadline deadline() const { return deadline_; }

  /// After IssueSettings::failed: commands are handed to the device again.
  void use_device(wire::DeviceIndex device);

  // ---- another worker takes the session over, or this one does (standing.hpp)

  /// From now on, or no longer, nothing is handed to the drivers but what has been begun there.
  void rest(bool rests);
  /// Nothing is in the drivers' hands, and no turn is under way.
  bool at_rest() const;
  /// All that is pending, and the events. At rest.
  Standing standing() const;
  /// Queues a command of the worker's own, which has a lane of the worker's own. A session that moves goes
  /// without it.
  void enqueue_own(const std::shared_ptr<DeviceCommand>& command);
  /// The time that commands of this kind take on the device, as far as that is known.
  std::optional<sched::Duration> estimated(wire::DeviceIndex device, sched::CommandKind kind) const;
  /// The commands that are in the drivers' hands.
  std::vector<NodePtr> under_way() const;
  /// Until end_restoring(), calls make again what another worker has: before the first. Rests from now on.
  void begin_restoring();
  /// Begins with the events of another worker.
  Result<void> restore(const RestoredEvents& events);
  /// The next call that is handled makes this command again, and nothing else; null: it does as ever.
  void restore_next(const RestoredCommand* command) { restored_ = command; }
  /// Whether it makes a command again: whatever else it does was done before.
  bool restores() const { return restored_ != nullptr; }
  /// After a call that has made again a launch that had begun in parts: sees to it that it can go on.
  Result<void> prepare_begun(const std::function<void()>& finish_builds);
  /// Of a call that has made several commands, the one that it makes again; 0: it has made one.
  std::uint32_t restored_part() const { return restored_ != nullptr ? restored_->part : 0; }
  /// Whether calls are handled that another worker has handled before.
  bool is_restoring() const { return is_restoring_; }
  /// All is made again.
  void end_restoring();
  /// The other worker serves no more: goes on where it has left the pages and rings, and issues what may be.
  void take_over();

  /// Too much is pending: read no more calls before the next pump(). Never while only the client can make
  /// progress possible: its calls have to be read then.
  bool saturated();

 private:
  friend class Executor;  // while a call is handled

  /// With 1 instead of 4, an H100 took two fifths longer for twelve launches of 2 us than when all were read
  /// first; with 4 about as long.
  static constexpr std::uint64_t kRampUp = 4;

  /// For a node of the call that is handled. With the lock held.
  PendingCall keep_call() { return calls_.keep(request_.number, request_.opcode, request_.call); }
  Result<void> restore_histories(const RestoredEvents& restored);
  Result<void> add_again(const NodePtr& node, bool named_waits);
  void pump(DeviceIssuer& issuer);
  void prepare_slicing(DeviceIssuer& issuer, Lock& lock);
  void compile_first(DeviceIssuer& issuer, Lock& lock);
  void hand_over();
  static std::int32_t wait_refused(const DeviceCommand& command, const Node& refused);
  void refuse(DeviceCommand& command);
  void update_deadline(TimePoint now);

  Executor& executor_;
  Request request_;     // the latest
  PendingCalls calls_;  // of nodes that have not ended; shared with them
  const RestoredCommand* restored_ = nullptr;
  bool is_restoring_ = false;  // begin_restoring() was called, and end_restoring() was not
  std::vector<std::pair<wire::EventId, NodePtr>> early_;  // host work whose events are to be restored
  std::vector<NodePtr> restored_nodes_;                   // in the order of Standing
  Batch batch_;                                           // being handed over
  std::vector<NodePtr> dying_;                            // being destroyed
  std::uint64_t own_ = 0;               // commands of the worker's own that were not destroyed yet
  std::uint64_t pending_seen_ = 0;      // after the last add
  std::uint64_t pending_at_issue_ = 0;  // when it issued last
  DeviceIssuer::Deadline deadline_;
};

}  // namespace fairgv::vgpu
