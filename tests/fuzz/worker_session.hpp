// A session of the worker without a client: handlers on the machine's real driver, one call after the other.
#pragma once

#include <array>
#include <chrono>
#include <span>
#include <vector>

#include "runtime/session/turn.hpp"
#include "runtime/vgpu/ends/replies.hpp"
#include "runtime/vgpu/opencl/handlers.hpp"
#include "tests/fuzz/records.hpp"

namespace fairgv::fuzz {

/// The driver is opened once and shared: one session at a time.
class WorkerSession {
 public:
  /// How turns are granted, and whether launches are cut at random.
  struct Turns {
    std::chrono::nanoseconds slice{0};
    bool cut = false;
  };

  explicit WorkerSession(const Turns& turns, const vgpu::IssueLimits& limits = {});
  /// Waits for the driver's work; commands that wait for the client never begin.
  ~WorkerSession();

  /// Handles one message, as it came from the ring. An Error if the front end broke the protocol with it:
  /// then the session is over.
  Result<void> handle(wire::Opcode opcode, std::span<const std::byte> bytes);

  /// Issues the commands that may be issued, and waits until the driver has no work.
  void settle();

  std::span<std::byte> arena() const { return segment_.arena(); }

  /// Claims an event's slot, as the front end does before it names the event, and writes its status.
  void claim_slot(wire::EventId event);
  std::int32_t status(wire::EventId event) const;

 private:
  void read_replies();
  bool ended(wire::EventId event) const;
  vgpu::IssueSettings settings(const Turns& turns, const vgpu::IssueLimits& limits);

  ring::Segment segment_;
  ring::RingConsumer responses_;
  ring::RingConsumer notices_;
  session::TurnPage turns_;
  vgpu::Executor executor_;
  const vgpu::Helm::Held held_;
  vgpu::Executor::Loop& loop_;
  vgpu::opencl::Handlers backend_;
  vgpu::Replies replies_;
  std::vector<std::byte> reply_;  // the part that has come
};

/// Plays a record of worker_script.hpp, if it is within the limits. An Error as handle()'s.
Result<void> play(const Record& record, WorkerSession& session);

}  // namespace fairgv::fuzz
