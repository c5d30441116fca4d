// Takes from the graph the commands that became ready, were granted or have ended, and tells everybody
// concerned: the device's issuer, the completion slots and notices of the front end, and the trace.
//
// Externally synchronised by the executor's lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/ring/segment.hpp"
#include "runtime/vgpu/ends/service_units.hpp"
#include "runtime/vgpu/graph/command_graph.hpp"
#include "runtime/vgpu/graph/event_table.hpp"
#include "runtime/vgpu/graph/notices.hpp"
#include "runtime/vgpu/issue/device_issuer.hpp"
#include "runtime/vgpu/issue/settings.hpp"

namespace fairgv::vgpu {

class Completions final : public ReadyCommands {
 public:
  /// A program whose pauses are shorter than this is waited for on the driver's thread. After a wait for its
  /// commands it comes back two wake-ups later, which take 50 to 100 us each in a virtual machine.
  static constexpr std::chrono::microseconds kBriefPause{250};

  /// All outlive it; the issuers are there before anything is collected.
  Completions(const IssueSettings& settings, CommandGraph& graph, EventTable& events, Notices& notices,
              const std::vector<std::unique_ptr<DeviceIssuer>>& issuers)
      : settings_(settings),
        graph_(graph),
        events_(events),
        notices_(notices),
        issuers_(issuers),
        units_(settings.promises) {}

  /// Collects everything. `now`: before the program could see the ends. `told_ns`: when the call that ended
  /// an access was made, as the program says.
  void collect(TimePoint now, std::uint64_t told_ns);
  void collect_ready() override;

  /// Nodes that nothing needs any more: destroyed by the loop thread, outside the lock.
  std::vector<NodePtr>& retired() { return retired_; }
  const std::vector<NodePtr>& retired() const { return retired_; }

  // ---- how quickly the program comes back

  /// Nothing is left to do since `now`.
  void idle_since(TimePoint now) { idle_since_ = now; }
  /// The time from the last idle moment to the next command was short.
  bool pauses_briefly() const { return pauses_briefly_; }

  // ---- bells

  /// The bells to ring for everything written since the last call; after letting go of the lock.
  struct Bells {
    bool completion = false, notice = false;
  };
  Bells take_bells() {
    const bool awaited = events_.take_awaited();
    return {awaited, notices_.take_sent()};
  }

 private:
  void collect_granted();
  void collect_ended(TimePoint now);
  void record_waits(TimePoint now, std::uint64_t told_ns);

  const IssueSettings& settings_;
  CommandGraph& graph_;
  EventTable& events_;
  Notices& notices_;
  const std::vector<std::unique_ptr<DeviceIssuer>>& issuers_;
  ServiceUnits units_;
  std::vector<NodePtr> retired_;
  std::optional<TimePoint> idle_since_;  // nothing to do since then
  bool pauses_briefly_ = false;
};

}  // namespace fairgv::vgpu
