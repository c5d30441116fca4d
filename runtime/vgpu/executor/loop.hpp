// What only the loop thread does with an executor: issues what may be issued, frees what has ended, and decides when it
// must look again. Executor::at() gives it to who has the helm.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/vgpu/executor/executor.hpp"

namespace fairgv::vgpu {

class Executor::Loop {
 public:
  explicit Loop(Executor& executor) : executor_(executor) {}

  /// What is known of the call that is being handled.
  struct Request {
    std::uint32_t cpu = 0;  // where the program was when it sent it
    wire::Opcode opcode = 0;
    std::uint64_t told_ns = 0;  // wire::time_of() its tag
  };
  void reading(const Request& request) { request_ = request; }

  /// Issues what may be issued, ends what is over, frees what has ended.
  void pump();

  /// As pump(), but frees nothing: what has ended may be what the driver is just reporting, or the program
  /// about to come back.
  void issue();
  /// What has ended.
  void free_retired();
  /// Nothing is to be done, and a turn is kept for the program's next command.
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

  /// Whether what has been read is to be issued before more is read: the device is at work on that meanwhile.
  /// The first command after a pause at once; then four for each that there were, so that it does not wait
  /// for all that a program sends, and little time goes into looking after it, even if it takes none.
  bool feeds_first() const {
    const bool begins = pending_seen_ == 1 && !executor_.in_flight();
    const bool goes_on = pending_seen_ >= (1 + kRampUp) * std::max<std::uint64_t>(1, pending_at_issue_);
    return (begins || goes_on) && executor_.attention_.load(std::memory_order_relaxed);
  }

  /// When pump() must be called again at the latest. `awake`: it is so soon that the caller must not sleep.
  DeviceIssuer::Deadline deadline() const { return deadline_; }

  /// Too much is pending: read no more calls before the next pump(). Never while only the client can make
  /// progress possible, who could not say so any more.
  bool saturated();

 private:
  friend class Executor;  // while a call is handled

  /// With one instead of four, twelve launches of 2 us took an H100 two fifths longer than when all were read
  /// first, with four about as long.
  static constexpr std::uint64_t kRampUp = 4;

  void pump(DeviceIssuer& issuer);
  void prepare_slicing(DeviceIssuer& issuer, Lock& lock);
  void compile_first(DeviceIssuer& issuer, Lock& lock);
  void hand_over();
  static std::int32_t wait_refused(const DeviceCommand& command, const Node& refused);
  void refuse(DeviceCommand& command);
  void update_deadline(TimePoint now);

  Executor& executor_;
  Request request_;                     // the latest
  Batch batch_;                         // being handed over
  std::vector<NodePtr> dying_;          // being destroyed
  std::uint64_t pending_seen_ = 0;      // after the last add
  std::uint64_t pending_at_issue_ = 0;  // when it issued last
  DeviceIssuer::Deadline deadline_;
};

}  // namespace fairgv::vgpu
